import { once } from "node:events";

export function input<T>(): T {
  return JSON.parse(process.argv[2] ?? "null");
}

export function say(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

/** So that several children begin in the same moment, when all of them have loaded. */
export async function waitForGo(): Promise<void> {
  say("ready");
  await once(process.stdin, "data");
  process.stdin.unref();
}
