import { z } from "zod";

/** ISO-8601 UTC with milliseconds: the same string in table, wire and SDK, so that equal times are equal strings. */
export const Timestamp = z.iso.datetime({ precision: 3, error: "must be ISO-8601 UTC with milliseconds" });
export type Timestamp = z.infer<typeof Timestamp>;
