import type { z } from "zod";
import { type AppError, isAppError, parseInput } from "../src/index.ts";

/** The error that an input is refused with; throws if it is accepted, so that no test passes by accident. */
export function refusal(schema: z.ZodType, input: unknown): AppError {
  try {
    parseInput(schema, input);
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(input)?.slice(0, 200)}`);
}
