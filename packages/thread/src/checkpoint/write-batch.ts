import type { LeavingWrite, Left } from "../sql/leave-run.ts";
import { AssumedLists } from "./assumed-lists.ts";
import type { Writer } from "./lease.ts";
import { type NewPiece, PieceEncoder } from "./piece-encoder.ts";
import { encodeOrForget, type Knowledge, listsOf } from "./piece-knowledge.ts";
import { PieceMemory } from "./piece-memory.ts";
import type { WriteOp } from "./write-op.ts";

export type Encode = (encoder: PieceEncoder) => WriteOp;

/** When a write is wanted in the database: `soon` is with whatever this turn of the event loop brings. */
export type Urgency = "soon" | "later";

/** How long what nobody waits for is gathered: a commit of its own for each step of a graph costs more than the steps. */
const LATER_MS = 5;

interface Call {
  encode: Encode;
  op: WriteOp;
  /** It took lists for unchanged without looking at all of them. */
  assumes: boolean;
}

/**
 * What one writer wants to be written in one transaction. Each call is encoded as it is added. Only, whether what was
 * stored before and stands in a long list of a pending write has changed since is looked at later in the same turn of
 * the event loop, when the step's checkpoint comes or the turn ends: if it has, the write holds what it is then.
 */
export class WriteBatch {
  readonly writer: Writer;
  readonly created_at: string;
  knowledge: Knowledge;
  /** What the batch will have stored, on top of what is. */
  memory: PieceMemory;
  pieces: NewPiece[] = [];
  result: Promise<void> = Promise.resolve();
  /** The run's end, in the same commit, and what came of it. */
  leaving: LeavingWrite | undefined;
  left: Left | undefined;
  /** It may go to the database; until then it gathers. */
  readonly gathered: Promise<void>;
  /** Lets it go. */
  readonly release: () => void;
  #assumed = new AssumedLists();
  readonly #calls: Call[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isUrgent = false;
  #failure: { error: unknown } | undefined;

  constructor(writer: Writer, knowledge: Knowledge, memory: PieceMemory, created_at: string) {
    this.writer = writer;
    this.knowledge = knowledge;
    this.memory = memory;
    this.created_at = created_at;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gathered = promise;
    this.release = () => {
      clearTimeout(this.#timer);
      resolve();
    };
  }

  get ops(): WriteOp[] {
    return this.#calls.map(({ op }) => op);
  }

  /** An encoding that fails leaves the batch as it was. */
  add(encode: Encode, urgency: Urgency): WriteOp {
    const call = { encode, op: {}, assumes: false };
    this.#schedule(urgency);
    this.#encode(call, this.#assumed);
    this.#calls.push(call);
    if (call.assumes) setImmediate(() => this.compare());
    return call.op;
  }

  /** Makes sure of what was assumed so far. */
  compare(): void {
    const assumed = this.#assumed;
    this.#assumed = new AssumedLists();
    const isTrue = assumed.settleAll();
    for (const call of this.#calls) {
      if (!call.assumes) continue;
      call.assumes = false;
      if (!isTrue) this.#encodeOrFail(call);
    }
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Pieces that the batch counted on may have been swept: it writes out all that it holds. */
  encodeAgain(knowledge: Knowledge): WriteOp[] {
    this.knowledge = knowledge;
    this.memory = new PieceMemory(knowledge.memory);
    this.pieces = [];
    for (const call of this.#calls) this.#encode(call);
    return this.ops;
  }

  #encodeOrFail(call: Call): void {
    try {
      this.#encode(call);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Even if the call then fails: a batch that was made for it must end as well. */
  #schedule(urgency: Urgency): void {
    if (this.#isUrgent) return;
    if (urgency === "later") this.#timer ??= setTimeout(this.release, LATER_MS);
    else {
      this.#isUrgent = true;
      setImmediate(this.release);
    }
  }

  #encode(call: Call, assumed?: AssumedLists): void {
    const { knowledge, writer } = this;
    const encoder = new PieceEncoder(this.memory, { lists: listsOf(knowledge, writer), assumed });
    call.op = encodeOrForget(knowledge, writer, () => call.encode(encoder));
    call.assumes = encoder.assumes;
    encoder.memory.mergeInto(this.memory);
    for (const piece of encoder.pieces) this.pieces.push(piece);
  }
}
