import { NUMBER, numbersIn } from "./coerce-value.ts";

const MAX_TIMES = 10;
const TIMES = new RegExp(`,?\\s+(?:twice|(${NUMBER})\\s+times)(?:\\s+in a row)?\\s*[.!]?$`, "i");

/** "run `ls` twice": what is to be done, and how often. */
export function readTimes(instruction: string): { order: string; times: number } {
  const found = TIMES.exec(instruction);
  const times = found?.[1] === undefined ? 2 : (numbersIn(found[1])[0] ?? 1);
  if (!found || times < 1 || times > MAX_TIMES) return { order: instruction, times: 1 };
  return { order: instruction.slice(0, found.index), times };
}
