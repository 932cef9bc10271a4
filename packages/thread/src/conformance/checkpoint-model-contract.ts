import { AIMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { comparable, elsewhere, type Point, put, read } from "./checkpoint-line.ts";
import { expectSame } from "./expect-same.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const RUNS = 25;
const STEPS = 25;
/** Thousands of round trips to a database. */
const TIMEOUT = { timeout: 300_000 };

type Item = AIMessage | { text: string; deep: { n: number; list: unknown[] } };
type Step =
  | { do: "append" | "insert"; at: number; message: boolean; text: string; many: number }
  | { do: "edit" | "edit deep" | "replace" | "remove" | "double" | "write"; at: number; text: string }
  | { do: "reverse" | "clone" | "reload" | "prune" | "new invocation" }
  | { do: "fork"; to: number };

/** A list that is changed in every way, against a plain copy of it: after each put, and for all of them in the end. */
export function checkpointModelContract(open: OpenStorage): void {
  describe("a list against its model", () => {
    it(
      "whatever happens to it, every checkpoint reads back as it was put",
      TIMEOUT,
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const other = await elsewhere(storage, second);
        let thread = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep(), { maxLength: STEPS }), async (steps) => {
            await new Walk(saver, other, `t${++thread}`).run(steps);
          }),
          { numRuns: RUNS },
        );
      }),
    );
  });
}

class Walk {
  readonly #saver: CheckpointSaver;
  readonly #other: CheckpointSaver;
  readonly #thread_id: string;
  #list: Item[] = [];
  #signal = new AbortController().signal;
  #at: Point | undefined;
  #points: { point: Point; expected: unknown }[] = [];

  constructor(saver: CheckpointSaver, other: CheckpointSaver, thread_id: string) {
    this.#saver = saver;
    this.#other = other;
    this.#thread_id = thread_id;
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.#put();
    for (const step of steps) {
      await this.#take(step);
      await this.#put();
    }
    for (const { point, expected } of this.#points) expectSame(await read(this.#other, point), expected);
  }

  async #put(): Promise<void> {
    const values = { list: this.#list, sent: { args: { list: this.#list } } };
    const expected = structuredClone(comparable(values));
    // A branch on purpose is no invocation's next step.
    const options = this.#at ? { signal: this.#signal } : {};
    const point = await put(this.#saver, this.#at ?? this.#thread_id, values, options);
    expectSame(await read(this.#other, point), expected);
    this.#points.push({ point, expected });
    this.#at = point;
  }

  async #take(step: Step): Promise<void> {
    const list = this.#list;
    switch (step.do) {
      case "append":
        list.push(...Array.from({ length: step.many }, (_, n) => item(step, n)));
        return;
      case "insert":
        list.splice(step.at % (list.length + 1), 0, item(step, 0));
        return;
      case "reverse":
        // As a reducer does it: a new list of the same objects.
        this.#list = list.toReversed();
        return;
      case "clone":
        this.#list = list.map((one) =>
          one instanceof AIMessage ? new AIMessage({ ...one } as never) : structuredClone(one),
        );
        return;
      case "new invocation":
        this.#signal = new AbortController().signal;
        return;
      case "prune":
        await this.#other.prune({ thread_id: this.#thread_id, keep_last: 2 });
        this.#points = this.#points.slice(-2);
        return;
      case "reload":
        return this.#go(this.#points.length - 1);
      case "fork":
        return this.#go(step.to % this.#points.length);
      default:
        if (list.length > 0) await this.#change(step, step.at % list.length);
    }
  }

  async #change(step: Extract<Step, { text: string }>, at: number): Promise<void> {
    const list = this.#list;
    const one = list[at] as Item;
    if (step.do === "edit") edit(one, step.text);
    else if (step.do === "edit deep") editDeep(one, step.text);
    else if (step.do === "replace") list[at] = item({ ...step, message: at % 2 === 0 }, at);
    else if (step.do === "remove") list.splice(at, 1);
    else if (step.do === "double") list.push(one);
    else
      await this.#saver.putWrites({ ...this.#at?.config, signal: this.#signal }, [["list", list]], `task ${step.text}`);
  }

  async #go(to: number): Promise<void> {
    const { point } = this.#points[to] as { point: Point };
    this.#signal = new AbortController().signal;
    const tuple = await this.#saver.getTuple({ ...point.config, signal: this.#signal });
    this.#list = tuple?.checkpoint.channel_values["list"] as Item[];
    this.#at = point;
  }
}

function item({ message, text }: { message?: boolean; text: string }, n: number): Item {
  if (message)
    return new AIMessage({ id: `${text} ${n}`, content: text, tool_calls: [{ id: "c", name: "f", args: { n } }] });
  return { text, deep: { n, list: [n, { text }] } };
}

function edit(one: Item, text: string): void {
  if (one instanceof AIMessage) one.content = text;
  else one.text = text;
}

function editDeep(one: Item, text: string): void {
  if (one instanceof AIMessage) Object.assign(one.tool_calls?.[0]?.args ?? {}, { text });
  else one.deep.list.push({ text });
}

function anyStep(): fc.Arbitrary<Step> {
  const at = fc.nat({ max: 60 });
  const text = fc.string({ maxLength: 8 });
  const message = fc.boolean();
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("append" as const),
        at,
        message,
        text,
        many: fc.integer({ min: 1, max: 20 }),
      }),
    },
    fc.record({ do: fc.constant("insert" as const), at, message, text, many: fc.constant(1) }),
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom(
          "edit" as const,
          "edit deep" as const,
          "replace" as const,
          "remove" as const,
          "double" as const,
          "write" as const,
        ),
        at,
        text,
      }),
    },
    fc.record({
      do: fc.constantFrom(
        "reverse" as const,
        "clone" as const,
        "reload" as const,
        "prune" as const,
        "new invocation" as const,
      ),
    }),
    fc.record({ do: fc.constant("fork" as const), to: at }),
  );
}
