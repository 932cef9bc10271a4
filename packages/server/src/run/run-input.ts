import { Content, Decision, JsonObject } from "@cognition/contract";
import { z } from "zod";

/** What a run is to do, as its row keeps it until the run's end. */
export const RunInput = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("message"),
    message_id: z.string(),
    /** The message that this one answers, where that is not the last one: the conversation branches there. */
    parent_id: z.string().optional(),
    content: Content,
    model: z.string().optional(),
    input: JsonObject.optional(),
    context: JsonObject.optional(),
    /** The request's own, for the span that the run's belongs under. */
    traceparent: z.string().optional(),
  }),
  /** The answers to what the run waits for, by interrupt id; and what it was doing before. */
  z.strictObject({ kind: z.literal("answers"), answers: z.record(z.string(), Decision), model: z.string().optional() }),
  /** Goes on from the last checkpoint. */
  z.strictObject({ kind: z.literal("continue"), model: z.string().optional() }),
]);
export type RunInput = z.infer<typeof RunInput>;
