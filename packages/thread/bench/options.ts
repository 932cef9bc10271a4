import { parseArgs } from "node:util";

export interface BenchOptions {
  readonly steps: readonly number[];
  readonly rounds: number;
  /** Without the official savers. */
  readonly ours: boolean;
  /** Where the report goes. */
  readonly out: string | undefined;
}

const STEPS = [50, 200, 800, 2_000];
const SHORT_STEPS = [50, 200];

export const USAGE = `npm run bench:checkpoint -- [options]
  --steps 50,200   lengths of the threads (default ${STEPS.join(",")}; the official savers stop at 800)
  --rounds 3       how often each is measured; the report has medians
  --ours           without the official savers, which are installed on demand otherwise
  --short          ${SHORT_STEPS.join(" and ")} steps, one round, without the official savers
  --out folder     where the report goes (default docs/bench after a full run; a partial one is only printed)`;

export function parseOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      steps: { type: "string" },
      rounds: { type: "string" },
      ours: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      out: { type: "string" },
    },
  });
  const steps = values.steps?.split(",").map(Number) ?? (values.short ? SHORT_STEPS : STEPS);
  const rounds = Number(values.rounds ?? (values.short ? 1 : 3));
  if (!steps.every((n) => Number.isInteger(n) && n >= 50))
    throw new Error(`--steps must be whole numbers from 50\n${USAGE}`);
  if (!(Number.isInteger(rounds) && rounds >= 1)) throw new Error(`--rounds must be a whole number from 1\n${USAGE}`);
  const ours = values.ours || values.short;
  const isFull = !ours && values.steps === undefined;
  return { steps, rounds, ours, out: values.out ?? (isFull ? "docs/bench" : undefined) };
}
