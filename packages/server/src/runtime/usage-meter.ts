import type { TokenUsage } from "@cognition/contract";
import { addUsage, type CallUsage } from "../model/usage.ts";

/** Adds up what the models of one run have used, over all its attempts. */
export interface UsageMeter {
  add(call: CallUsage): void;
  /** Null before the first call. */
  total(): TokenUsage | null;
}

export function createUsageMeter(before: TokenUsage | null = null): UsageMeter {
  let total = before;
  return {
    add: (call) => {
      total = addUsage(total ?? undefined, call);
    },
    total: () => total,
  };
}
