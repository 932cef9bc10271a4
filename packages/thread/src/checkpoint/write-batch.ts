import type { LeavingWrite, Left } from "../sql/leave-run.ts";
import type { QueryResult, Statement } from "../sql/statement.ts";
import { AssumedLists } from "./assumed-lists.ts";
import type { Writer } from "./lease.ts";
import { type LongLists, type NewPiece, PieceEncoder } from "./piece-encoder.ts";
import { encodeOrForget, type Knowledge, listsOf } from "./piece-knowledge.ts";
import { PieceMemory } from "./piece-memory.ts";
import type { WriteOp } from "./write-op.ts";

export type Encode = (encoder: PieceEncoder) => WriteOp;

/**
 * When a write is wanted in the database: `soon` is with whatever this turn of the event loop brings, and so is `awaited`,
 * where the whole graph stands still until it is there.
 */
export type Urgency = "awaited" | "soon" | "later";

/** How long what nobody waits for is gathered: a commit of its own for each step of a graph costs more than the steps. */
const LATER_MS = 5;

interface Call {
  encode: Encode;
  op: WriteOp;
  /** It took lists for unchanged without looking at all of them. */
  assumes: boolean;
}

interface OtherWrite {
  readonly statement: Statement;
  result?: QueryResult | undefined;
}

export interface BatchOptions {
  writer: Writer;
  knowledge: Knowledge;
  memory: PieceMemory;
  created_at: string;
  /** The database works by itself: what can be looked at meanwhile, is. */
  isElsewhere: boolean;
  /** Told of all that is encoded, also of what is encoded once more. */
  onEncoded: (op: WriteOp) => void;
}

/**
 * What one writer wants to be written in one transaction. Each call is encoded as it is added. Only, whether what was
 * stored before and stands in a long list has changed since is looked at later in the same turn of the event loop: of a
 * pending write, when the step's checkpoint comes or the turn ends; of a checkpoint that the graph waits for, when the
 * database, if that is elsewhere, is at work on it. If something has changed, what is stored is what it is then.
 */
export class WriteBatch {
  readonly writer: Writer;
  readonly created_at: string;
  knowledge: Knowledge;
  /** What the batch will have stored, on top of what is. */
  memory: PieceMemory;
  pieces: NewPiece[] = [];
  /** How often it turned out to be something else than what it was taken for. */
  revision = 0;
  result: Promise<void> = Promise.resolve();
  /** The run's end, in the same commit, and what came of it. */
  leaving: LeavingWrite | undefined;
  left: Left | undefined;
  /** What others store in the same commit, behind all else, and what came of it. */
  readonly others: OtherWrite[] = [];
  /** It may go to the database; until then it gathers. */
  readonly gathered: Promise<void>;
  /** Lets it go. */
  readonly release: () => void;
  #assumed = new AssumedLists();
  readonly #calls: Call[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isUrgent = false;
  #failure: { error: unknown } | undefined;
  readonly #isElsewhere: boolean;
  readonly #onEncoded: BatchOptions["onEncoded"];

  constructor(options: BatchOptions) {
    this.writer = options.writer;
    this.knowledge = options.knowledge;
    this.memory = options.memory;
    this.created_at = options.created_at;
    this.#isElsewhere = options.isElsewhere;
    this.#onEncoded = options.onEncoded;
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

  /** Something was taken for unchanged, and nobody has looked yet. */
  get assumes(): boolean {
    return this.#calls.some((call) => call.assumes);
  }

  /** An encoding that fails leaves the batch as it was. */
  add(encode: Encode, urgency: Urgency): void {
    const call = { encode, op: {}, assumes: false };
    this.#schedule(urgency);
    this.#encode(call, { assumed: this.#assumed, looksLater: urgency === "awaited" && this.#isElsewhere });
    this.#calls.push(call);
    if (call.assumes) setImmediate(() => this.compare());
  }

  /** With whatever else this turn of the event loop brings. */
  addOther(statement: Statement): OtherWrite {
    const other: OtherWrite = { statement };
    this.others.push(other);
    this.#schedule("soon");
    return other;
  }

  /** Makes sure of what was assumed so far: what is not true is encoded again. */
  compare(): void {
    const assumed = this.#assumed;
    this.#assumed = new AssumedLists();
    const isTrue = assumed.settleAll();
    for (const call of this.#calls) {
      if (!call.assumes) continue;
      call.assumes = false;
      if (!isTrue) this.#encodeOrFail(call);
    }
    if (!isTrue) this.revision++;
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Pieces that the batch counted on may have been swept: it writes out all that it holds. */
  encodeAgain(knowledge: Knowledge): void {
    this.knowledge = knowledge;
    this.memory = new PieceMemory(knowledge.memory);
    this.pieces = [];
    for (const call of this.#calls) this.#encode(call);
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

  #encode(call: Call, looks: Omit<LongLists, "lists"> = {}): void {
    const { knowledge, writer } = this;
    const encoder = new PieceEncoder(this.memory, { lists: listsOf(knowledge, writer), ...looks });
    call.op = encodeOrForget(knowledge, writer, () => call.encode(encoder));
    call.assumes = encoder.assumes;
    encoder.memory.mergeInto(this.memory);
    for (const piece of encoder.pieces) this.pieces.push(piece);
    this.#onEncoded(call.op);
  }
}
