import { mask, POLITE as ORDER_POLITE } from "./phrase.ts";

const POLITE = "(?:please\\s+|also\\s+|but\\s+|and\\s+|however,?\\s+|no,?\\s+|you\\s+)*";
const TOLD = "(?:i|we)(?:['’]ve|\\s+have)?\\s+(?:told|asked|warned)\\s+you\\s+(?:not|never)\\s+to";
const UNWANTED = "(?:i|we)\\s+(?:do\\s+not|don['’]?t|never)\\s+want(?:ed)?\\s+you\\s+to";
const FORBIDDEN = `(?:do\\s+not|don['’]?t|never|(?:must|may|shall|should)\\s*n(?:ot|['’]t)|you\\s+can(?:not|\\s+not|['’]t)|are\\s+not\\s+(?:allowed\\s+|supposed\\s+)?to|avoid|refrain\\s+from|(?:there(?:['’]s|\\s+is)\\s+)?no\\s+need\\s+to|under\\s+no\\s+circumstances|${TOLD}|${UNWANTED})`;
const NOT_TO = new RegExp(`^\\s*${POLITE}${FORBIDDEN}\\b(?!\\s+(?:forget|hesitate|fail|worry|bother me)\\b)`, "i");
const BUT_NOT = new RegExp(
  `,?\\s+but\\s+(?:please\\s+)?${FORBIDDEN}\\b(?!\\s+(?:forget|hesitate|fail|worry|bother me)\\b)(?:[^.;\\n]|\\.(?=\\S))*`,
  "i",
);
const WITHOUT =
  /(?:^|,?\s+)without\s+(?:touch|chang|modify|delet|overwrit|edit|remov|open|read)ing\b(?:[^,.;\n]|\.(?=\S))*(?:,\s*|$)/i;
const TAKEN_BACK =
  /(?:(?:^|[.!?…;–—]|\s-)\s*(?:oh,?\s+|wait,?\s+|no,?\s+|sorry,?\s+|actually,?\s+|just\s+|i(?:'m| am)\s+)*(?:kidding|joking|never\s?mind|scratch that|forget (?:it|that)|leave (?:it|that)(?: alone| as it is)?|cancel(?: that)?|don['’]t|do not)|(?:,|\bplease)\s+(?:actually,?\s+|just\s+|no,?\s+)*(?:kidding|joking|never\s?mind|scratch that|don['’]t|do not))(?: do (?:it|that))?\s*[.!]*\s*$/i;
/** It stands at the end; patterns over all of a long message take long. */
const MAX_AFTERTHOUGHT = 100;
const IN_ITS_PLACE = new RegExp(
  `^\\s*${POLITE}${FORBIDDEN}\\s+(\\p{L}+)\\b[^,;]*[,;]\\s*(?:but\\s+)?((?:\\1\\b|(?:just|rather|instead|only)\\s+\\p{L})[\\s\\S]*)$`,
  "iu",
);
const ASKS_ABOUT =
  /^\s*(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:explain|describe|tell me (?:how|why)|how (?:do|does|did|can|could|should|would|to)\b|why\b|who\b|should\b|did\b|(?:may|can|could) i\b(?! ask you to)|what (?:happens|would happen) (?:if|when)\b|(?:imagine|suppose|pretend|assume|hypothetically|let['’]?s say)\b|(?:what|which) (?:commands?|arguments?|parameters?)\b|(?:tell|ask|warn|remind|let) me\b(?: know)? (?:first |again )?before\b|is it (?:safe|ok|okay|possible)\b)/i;

const WORDS_FOR =
  "translate|rephrase|paraphrase|proofread|summari[sz]e|correct|review|explain|spell(?:check)?|quote|analy[sz]e|classify|define|rewrite|improve|pronounce|interpret|comment on";
/** What is to be done with words: all that follows. */
const OF_TEXT = new RegExp(`^\\s*${ORDER_POLITE}(?:${WORDS_FOR})\\b[^:\\n]*:\\s`, "i");
const LATER = new RegExp(`^\\s*${ORDER_POLITE}(?:remind me|remember to)\\b`, "i");
/** Of somebody else, or of another time. */
const TELLS =
  /^\s*(?:(?:maybe|perhaps|later|tomorrow|today|soon|after\s+\w+|yesterday),?\s+)?(?:i|we|they|he|she|someone|somebody|people|everyone|nobody)(?:['’]ll|\s+(?:will|might|could|may|should|am\s+(?:going|about)\s+to|are\s+(?:going|about)\s+to|used\s+to|almost|nearly|already))\s(?!like\b|need\s+you\b|ask\s+you\b)/i;
const SAYS =
  /^\s*(?:here(?:['’]s|\s+is|\s+are)\b(?![^:]{0,40}\b(?:tasks?|jobs?|orders?|requests?|steps?|what)\b)[^:.]{0,60}:|(?:the|my|our|this|that|an?|his|her|their|he|she|it|they|someone|somebody)\b(?![^:.]{0,60}\b(?:should|must|shall)\b)[^:.]{0,60}?\b(?:says?|said|reads|told me|asks?|asked|wrote|writes)(?:\s+(?:to|that))?\s*:?)\s/i;

/** "Translate to German: delete a.txt", "my boss said: delete a.txt": an order is spoken of, and none is given. */
export function speaksOf(instruction: string): boolean {
  return [OF_TEXT, LATER, SAYS, TELLS].some((form) => form.test(instruction));
}

/** All of the request is words to do something with, however many sentences they are. */
export function isOfText(request: string): boolean {
  return OF_TEXT.test(request);
}

/** "Do not delete a.txt" names what is not to be done. */
export function isForbidden(instruction: string): boolean {
  return NOT_TO.test(instruction);
}

/** "Delete a.txt… just kidding, don't": nothing is left of what was asked. */
export function isTakenBack(request: string): boolean {
  return TAKEN_BACK.test(mask(request).text.slice(-MAX_AFTERTHOUGHT));
}

/** "Don't run `ls`, run `pwd`": with the same verb again, or with "just" or "rather", it says what to do in its place. */
export function inItsPlace(instruction: string): string | undefined {
  const { text, reveal } = mask(instruction);
  const order = IN_ITS_PLACE.exec(text)?.[2];
  return order === undefined ? undefined : reveal(order);
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
