import { z } from "zod";
import { ErrorCode } from "./error.ts";
import { JsonObject } from "./json.ts";

/** `loc` starts with where the value came from: body, query, path or header. */
export const ValidationIssue = z.strictObject({
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
});
export type ValidationIssue = z.infer<typeof ValidationIssue>;

/** RFC 9457 `application/problem+json`. */
export const Problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string().optional(),
  code: ErrorCode,
  errors: z.array(ValidationIssue).optional(),
  details: JsonObject.optional(),
});
export type Problem = z.infer<typeof Problem>;
