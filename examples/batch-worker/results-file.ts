import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";

export interface Result {
  readonly job: number;
  readonly session_id: string;
  readonly run_id: string;
  readonly status: string;
  readonly output: string;
}

/** One line of JSON for each job that has ended. A line that was being written when the worker was killed is cut off. */
export function openResults(file: string): { readonly done: ReadonlySet<number>; add(result: Result): void } {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole !== text) truncateSync(file, Buffer.byteLength(whole));
  const lines = whole.split("\n").filter((line) => line !== "");
  return {
    done: new Set(lines.map((line) => (JSON.parse(line) as Result).job)),
    add: (result) => appendFileSync(file, `${JSON.stringify(result)}\n`),
  };
}
