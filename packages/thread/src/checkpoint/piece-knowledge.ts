import type { KnownList } from "./known-list.ts";
import type { Writer } from "./lease.ts";
import { PieceMemory } from "./piece-memory.ts";
import type { WriteOp } from "./write-op.ts";
import type { Reached } from "./write-statements.ts";

/** The pieces that this process knows, as of one generation of the lineage; undefined while it knows none. */
export interface Knowledge {
  memory: PieceMemory;
  generation: number | undefined;
  /** Where the thread stood when the newest of them were stored. */
  reached: Reached | undefined;
  /** The long lists of each invocation, as it wrote them last; they go when the invocation does. */
  lists: WeakMap<object, Map<string, KnownList>>;
}

export function noKnowledge(): Knowledge {
  return { memory: new PieceMemory(), generation: undefined, reached: undefined, lists: new WeakMap() };
}

/** What a failed encoding has noted down of long lists may name pieces that are never written. */
export function encodeOrForget(knowledge: Knowledge, writer: Writer, encode: () => WriteOp): WriteOp {
  try {
    return encode();
  } catch (error) {
    if (writer.invocation) knowledge.lists.delete(writer.invocation);
    throw error;
  }
}

export function listsOf(knowledge: Knowledge, { invocation }: Writer): Map<string, KnownList> | undefined {
  if (!invocation) return undefined;
  let lists = knowledge.lists.get(invocation);
  if (!lists) {
    lists = new Map();
    knowledge.lists.set(invocation, lists);
  }
  return lists;
}
