import { parseBody } from "../checkpoint/checkpoint-body.ts";
import { PieceDecoder } from "../checkpoint/piece-decoder.ts";
import { MESSAGES } from "../checkpoint/project-checkpoint.ts";
import type { SqlContext } from "./context.ts";

/**
 * The conversation as the session's state has it, read and decoded with turns for others in between, for a transaction that is to
 * go through all of it: nobody waits for what is done before. Pieces never change, so that whatever has happened to the session
 * meanwhile, the transaction only reads those that are new. Undefined where there is no state yet.
 */
export async function readAhead({ db }: SqlContext, session_id: string): Promise<PieceDecoder | undefined> {
  const query = db.q
    .selectFrom("sessions as s")
    .innerJoin("threads as t", "t.thread_id", "s.thread_id")
    .innerJoin("checkpoints as c", (join) =>
      join.onRef("c.thread", "=", "t.pk").on("c.ns", "=", "").onRef("c.checkpoint_id", "=", "t.head"),
    )
    .select(["t.pk", "t.lineage", "t.thread_id", "c.body"])
    .where("s.id", "=", session_id);
  const [head] = await db.read(query);
  if (!head) return undefined;
  const where = `Thread ${head.thread_id}`;
  const decoder = new PieceDecoder(db, head.lineage ?? head.pk, where);
  const messages = parseBody(head.body, where).channels[MESSAGES]?.[1];
  if (messages !== undefined) await decoder.fetch([messages]);
  return decoder;
}
