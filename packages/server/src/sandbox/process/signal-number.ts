import { constants } from "node:os";

/** Zero for a name that this system does not know. */
export function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : (constants.signals[signal] ?? 0);
}
