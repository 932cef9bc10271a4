const POLITE = "(?:please\\s+|also\\s+|but\\s+|and\\s+|however,?\\s+|you\\s+)*";
const FORBIDDEN = "(?:do\\s+not|don['’]?t|never|must\\s*n[o'’]t|should\\s*n[o'’]t|avoid|refrain\\s+from)";
const NOT_TO = new RegExp(`^\\s*${POLITE}${FORBIDDEN}\\b(?!\\s+(?:forget|hesitate|fail)\\b)`, "i");
const BUT_NOT = new RegExp(
  `,?\\s+but\\s+(?:please\\s+)?${FORBIDDEN}\\b(?!\\s+(?:forget|hesitate|fail)\\b)(?:[^.;\\n]|\\.(?=\\S))*`,
  "i",
);
const ASKS_ABOUT =
  /^\s*(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:explain|describe|tell me (?:how|why)|how (?:do|does|did|can|could|should|would|to)\b|why\b|should\b|did\b|may i\b|can i\b|could i\b|what (?:happens|would happen) (?:if|when)\b|is it (?:safe|ok|okay|possible)\b)/i;

/** "Do not delete a.txt" names what is not to be done. */
export function isForbidden(instruction: string): boolean {
  return NOT_TO.test(instruction);
}

/** "Create a.txt, but don't delete b.txt" asks for the first half. */
export function withoutForbidden(instruction: string): string {
  return instruction.replace(BUT_NOT, "");
}

/** "How do I delete a.txt?" wants to know, not to have it done. */
export function asksAbout(instruction: string): boolean {
  return ASKS_ABOUT.test(instruction);
}
