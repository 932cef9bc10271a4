import { readFile } from "./file-tools.ts";
import { literal, POLITE } from "./phrase.ts";
import { readShown } from "./shown-file.ts";
import { IMPERATIVE, withReferent } from "./split-instructions.ts";
import { followUp, type Step, say } from "./step.ts";
import type { Turn } from "./turn.ts";
import { findPath } from "./workspace-path.ts";

const ORDER = `(${POLITE}(?:${IMPERATIVE})\\b[\\s\\S]+)$`;
/** What is said first ends at a comma, at "then", or else where the order begins. */
const FORMS = ["\\s*,\\s*(?:then\\s+)?", "\\s+then\\s+", "\\s+"].map(
  (end) => new RegExp(`^\\s*(?:please\\s+)?(if|unless)\\s+([^,]+?)${end}${ORDER}`, "i"),
);
const POLITENESS =
  /^(?:you\s+(?:can|could|would|like|want|wish|please|have time|don't mind|do not mind)\b.*|possible|necessary|needed)$/i;
const FILE = "(?:the\\s+)?(?:file\\s+)?";
const A_FILE = "(?:an?\\s+|the\\s+)?(?:file\\s+)?(?:named\\s+|called\\s+)?";
const THERE = [
  `${FILE}PATH\\s+(?:already\\s+)?(?:exists|is (?:there|present))`,
  `there(?:'s| is)\\s+(?:already\\s+)?${A_FILE}PATH`,
];
const MISSING = [
  `${FILE}PATH\\s+(?:does(?:n't| not)\\s+(?:yet\\s+|already\\s+)?exist|is(?:n't| not)\\s+there|is\\s+missing)`,
  `there(?:'s| is)\\s+no\\s+${A_FILE}PATH`,
  `there\\s+is(?:n't| not)\\s+${A_FILE}PATH`,
];

/** "If …, do this": what is to be done stands under it, however many things that are. */
export function isConditional(instruction: string): boolean {
  return /^\s*(?:please\s+)?(?:if|unless)\b/i.test(instruction);
}

/** Whether a file is there can be seen; of everything else it is said that it can't be told, and nothing is done. */
export function conditionalSteps(
  instruction: string,
  turn: Turn,
  stepsOf: (order: string) => readonly Step[],
): readonly Step[] | undefined {
  if (!isConditional(instruction)) return undefined;
  const [, word = "", condition, order = ""] = FORMS.map((form) => form.exec(instruction)).find(Boolean) ?? [];
  if (condition === undefined) return undefined;
  if (POLITENESS.test(condition)) return stepsOf(order);
  const steps = stepsOf(withReferent(order, [condition]));
  if (steps.length === 0) return undefined;
  const path = findPath(condition);
  const wanted = path === undefined ? undefined : wantedState(condition, path);
  const read = path === undefined || wanted === undefined ? undefined : readFile(path, turn);
  if (!read) return say(`I can't tell whether ${condition}, so I did nothing of: "${order}"`);
  const isNegated = /^unless$/i.test(word);
  return [
    ...read,
    ...followUp((result) => {
      const { type } = readShown(result);
      const holds = type === "unknown" ? false : (type === "missing") === (wanted === "missing");
      return holds !== isNegated
        ? steps
        : say(`${path} is ${type === "missing" ? "not " : ""}there, so I left the rest.`);
    }),
  ];
}

function wantedState(condition: string, path: string): "there" | "missing" | undefined {
  const says = (forms: readonly string[]) =>
    forms.some((form) =>
      new RegExp(`^${form.replace("PATH", `["'\`]?${literal(path)}["'\`]?`)}(?:\\s+(?:yet|already|here))?$`, "i").test(
        condition.trim(),
      ),
    );
  if (says(THERE)) return "there";
  return says(MISSING) ? "missing" : undefined;
}
