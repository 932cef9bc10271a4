import { mask } from "./phrase.ts";

const POLITE = "(?:please\\s+|also\\s+|but\\s+|and\\s+|however,?\\s+|you\\s+)*";
const FORBIDDEN = "(?:do\\s+not|don['’]?t|never|must\\s*n[o'’]t|should\\s*n[o'’]t|avoid|refrain\\s+from)";
const NOT_TO = new RegExp(`^\\s*${POLITE}${FORBIDDEN}\\b(?!\\s+(?:forget|hesitate|fail|worry|bother me)\\b)`, "i");
const BUT_NOT = new RegExp(
  `,?\\s+but\\s+(?:please\\s+)?${FORBIDDEN}\\b(?!\\s+(?:forget|hesitate|fail|worry|bother me)\\b)(?:[^.;\\n]|\\.(?=\\S))*`,
  "i",
);
const WITHOUT =
  /(?:^|,?\s+)without\s+(?:touch|chang|modify|delet|overwrit|edit|remov|open|read)ing\b(?:[^,.;\n]|\.(?=\S))*(?:,\s*|$)/i;
const ASKS_ABOUT =
  /^\s*(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:explain|describe|tell me (?:how|why)|how (?:do|does|did|can|could|should|would|to)\b|why\b|should\b|did\b|(?:may|can|could) i\b(?! ask you to)|what (?:happens|would happen) (?:if|when)\b|is it (?:safe|ok|okay|possible)\b)/i;

/** "Do not delete a.txt" names what is not to be done. */
export function isForbidden(instruction: string): boolean {
  return NOT_TO.test(instruction);
}

/** "Create a.txt, but don't delete b.txt", "create a.txt without touching b.txt": what is asked for in them. */
export function withoutForbidden(instruction: string): string {
  if (!/\b(?:but|without)\b/i.test(instruction)) return instruction;
  const { text, reveal } = mask(instruction);
  return reveal(text.replace(BUT_NOT, "").replace(WITHOUT, ""));
}

/** "How do I delete a.txt?" wants to know, not to have it done. */
export function asksAbout(instruction: string): boolean {
  return ASKS_ABOUT.test(instruction);
}
