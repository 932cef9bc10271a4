import { AppError } from "@cognition/contract";
import type { Problem } from "./problem.ts";

/** How soon at the latest somebody is told of what went wrong with a file or a server that nobody asks for. */
const LOOK_AGAIN_MS = 30_000;

export interface ProblemWatchOptions {
  find(): Promise<readonly Problem[]>;
  onError(error: unknown): void;
}

export interface ProblemWatch {
  /** What is wrong now; what was not before is told. */
  look(): Promise<readonly Problem[]>;
  /** Looks now and from time to time. */
  start(): void;
  stop(): void;
}

/** Tells each problem once when it appears, and once more if it was gone in between: a definition that is left out is missed late. */
export function createProblemWatch({ find, onError }: ProblemWatchOptions): ProblemWatch {
  let told: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<readonly Problem[]> {
    const problems = await find();
    const before = told;
    told = new Set(problems.map(({ message }) => message));
    for (const { code, message, file } of problems)
      if (!before.has(message)) onError(new AppError(code, message, { details: { ...(file !== null && { file }) } }));
    return problems;
  }

  const lookAround = () => void look().catch(onError);
  return {
    look,
    start() {
      lookAround();
      timer = setInterval(lookAround, LOOK_AGAIN_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}
