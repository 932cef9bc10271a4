import { isDeepStrictEqual } from "node:util";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { comparable, elsewhere, type Point, put, read, type Values } from "./checkpoint-line.ts";
import { expectSame } from "./expect-same.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { CHANGES, HUMAN_MESSAGE_CHANGES, MESSAGE_CHANGES, type State, TOOL_MESSAGE_CHANGES } from "./state-changes.ts";
import { withStorage } from "./with-storage.ts";

/** Elements are known by identity, and in long lists by place: both must notice. */
const LENGTHS = [1, 40];
/** So long that what it holds may be looked at last of all. */
const VERY_LONG = 450;

/** Where a saver may have noted down what an object was, before it is changed. */
const MOMENTS: [string, (saver: CheckpointSaver, thread_id: string, values: Values) => Promise<[Point, Values]>][] = [
  [
    "after a put",
    async (saver, thread_id, values) => [await put(saver, thread_id, values, { signal: signalOf(values) }), values],
  ],
  [
    "after a put and a putWrites of the same objects",
    async (saver, thread_id, values) => {
      const first = await put(saver, thread_id, values, { signal: signalOf(values) });
      await saver.putWrites({ ...first.config, signal: signalOf(values) }, Object.entries(values), "task");
      return [first, values];
    },
  ],
  [
    "after a reload",
    async (saver, thread_id, values) => {
      const first = await put(saver, thread_id, values);
      const tuple = await saver.getTuple({ ...first.config, signal: signalOf(values) });
      return [first, tuple?.checkpoint.channel_values as Values];
    },
  ],
];

/** An object that is changed in place is never read back as it was before, nor does what was stored before change. */
export function checkpointMutationContract(open: OpenStorage): void {
  const cases = LENGTHS.flatMap((length) => MOMENTS.map(([when, moment]) => ({ length, when, moment })));

  describe("objects changed in place", () => {
    it.each(cases)("plain data $when, in lists of $length", ({ length, moment }) =>
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const other = await elsewhere(storage, second);
        for (const [name, change] of CHANGES) {
          await expectFollows({ saver, other, name, moment, values: plainState(length) }, (values) =>
            change(values as unknown as State),
          );
        }
      })(),
    );

    it.each(cases)("messages $when, in lists of $length", ({ length, moment }) =>
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const other = await elsewhere(storage, second);
        const follows = (name: string, change: (list: BaseMessage[]) => unknown) =>
          expectFollows({ saver, other, name, moment, values: { messages: messages(length) } }, (values) =>
            change(values["messages"] as BaseMessage[]),
          );
        for (const [name, change] of MESSAGE_CHANGES) await follows(name, (list) => change(list.at(-2) as AIMessage));
        for (const [name, change] of TOOL_MESSAGE_CHANGES)
          await follows(`tool: ${name}`, (list) => change(list.at(-1) as ToolMessage));
        for (const [name, change] of HUMAN_MESSAGE_CHANGES)
          await follows(`human: ${name}`, (list) => change(list[0] as HumanMessage));
      })(),
    );

    it(
      "messages in very long lists of a graph that waits for its checkpoints",
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const other = await elsewhere(storage, second);
        const durability = "sync" as const;
        const [[, moment]] = MOMENTS as [(typeof MOMENTS)[0]];
        for (const [name, change] of [...MESSAGE_CHANGES, ["nothing", () => undefined] as const]) {
          const values = { messages: messages(VERY_LONG) };
          await expectFollows({ saver, other, name, moment, values, durability }, ({ messages: list }) => {
            change((list as BaseMessage[]).at(-2) as AIMessage);
            (list as BaseMessage[]).push(new HumanMessage({ id: "next", content: "next" }));
          });
        }
      }),
    );

    it.each(MOMENTS)("maps and sets of many, %s", (_, moment) =>
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const other = await elsewhere(storage, second);
        for (const [name, change] of MANY_CHANGES) {
          await expectFollows({ saver, other, name, moment, values: manyState() }, (values) =>
            change(values as unknown as Many),
          );
        }
      })(),
    );

    it(
      "what was equal and was read together is still each its own",
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const same = () => ({ text: "long enough to be stored on its own ".repeat(10), done: false });
        const values = () => ({ list: [same(), same()], others: [same()], map: { a: same(), b: same() } });
        const at = await put(saver, "equal", values());
        await saver.putWrites(at.config, [["list", [same()]]], "task");
        const tuple = await (await elsewhere(storage, second)).getTuple(at.config);
        if (!tuple) throw new Error("nothing was stored");
        const { list, others, map } = tuple.checkpoint.channel_values as unknown as ReturnType<typeof values>;
        const written = tuple.pendingWrites?.flatMap(([, , value]) => value as ReturnType<typeof same>[]) ?? [];
        const all = [...list, ...others, ...Object.values(map), ...written];
        expect(all).toHaveLength(6);
        for (const [n, one] of all.entries()) {
          one.done = true;
          expect(all.map(({ done }) => done)).toEqual(all.map((_, i) => i <= n));
        }
      }),
    );

    it(
      "equal keys, elements and twins are as many after a read as before, however deep they are",
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const hi = () => new HumanMessage("hi");
        let deep: object = { leaf: true };
        for (let n = 0; n < 990; n++) deep = { deep };
        const twin = () => ({
          ...Object.fromEntries(Array.from({ length: 30 }, (_, n) => [n, n])),
          deep,
          text: "y".repeat(2_000),
        });
        const values: Values = {
          set: new Set([hi(), hi()]),
          map: new Map([
            [hi(), 1],
            [hi(), 2],
          ]),
          list: [hi(), hi()],
          one: twin(),
          two: twin(),
          nested: Array.from({ length: 900 }).reduce<unknown[]>((inner) => [inner], [{ leaf: true }]),
        };
        const at = await put(saver, "twins", values);
        const found = await read(await elsewhere(storage, second), at);
        expect(found).toStrictEqual(comparable(values));
        const list = found?.["list"] as unknown[];
        expect(list[0]).not.toBe(list[1]);
      }),
    );

    it(
      "an object that two threads hold is changed between their puts",
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const other = await elsewhere(storage, second);
        const shared = messages(20);
        const one = await put(saver, "one", { messages: shared });
        (shared[3] as BaseMessage).content = "changed";
        const two = await put(saver, "two", { messages: shared });
        const again = await put(saver, one, { messages: shared });
        const before = await read(other, one);
        expect(before?.["messages"]).toHaveProperty("3.content", "3");
        for (const point of [two, again]) {
          expect(await read(other, point)).toStrictEqual(comparable({ messages: shared }));
        }
      }),
    );

    it(
      "a message whose id comes between its write and its checkpoint is stored with it, in both",
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const message = new AIMessage("no id yet");
        const first = await put(saver, "ids", { messages: [] });
        await saver.putWrites(first.config, [["messages", [message]]], "task");
        message.id = "assigned";
        const next = await put(saver, first, { messages: [message] });
        const other = await elsewhere(storage, second);
        expect((await read(other, next))?.["messages"]).toMatchObject([{ id: "assigned" }]);
        const pending = (await other.getTuple(first.config))?.pendingWrites?.[0]?.[2] as BaseMessage[];
        expect(pending[0]?.content).toBe("no id yet");
        expect(pending[0]?.id).toBeUndefined();
      }),
    );

    it.each([3, VERY_LONG])("what changes while the put is on its way is not in it, of %i", (length) =>
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const held = messages(length);
        const options = { signal: signalOf({ held }), durability: "async" } as const;
        const first = await put(saver, "late", { messages: held }, options);
        held.push(new HumanMessage("one more"));
        const before = structuredClone(comparable({ messages: held }));
        const pending = put(saver, first, { messages: held }, options);
        for (const message of held) message.content = "too late";
        expect(await read(await elsewhere(storage, second), await pending)).toStrictEqual(before);
      })(),
    );
  });
}

interface Case {
  saver: CheckpointSaver;
  other: CheckpointSaver;
  name: string;
  moment: (saver: CheckpointSaver, thread_id: string, values: Values) => Promise<[Point, Values]>;
  values: Values;
  durability?: "sync";
}

async function expectFollows(
  { saver, other, name, moment, values, durability }: Case,
  change: (values: Values) => unknown,
) {
  const before = structuredClone(comparable(values));
  const [first, held] = await moment(saver, name, values);
  change(held);
  const after = structuredClone(comparable(held));
  const next = await put(saver, first, held, { signal: signalOf(values), ...(durability && { durability }) });
  expectSame(await read(other, next), after, name);
  expectSame(await read(other, first), before, `${name}: the checkpoint before`);
  expect(isDeepStrictEqual(after, before), `${name}: the test changes nothing`).toBe(false);
}

interface Many {
  record: Record<string, { n: number; tags: string[] }>;
  map: Map<unknown, { n: number; tags: string[] }>;
  set: Set<{ n: number; tags: string[] } | string>;
}

const MANY = 100;

function manyState(): Values {
  const one = (n: number) => ({ n, tags: ["a", "b"] });
  const all = Array.from({ length: MANY }, (_, n) => [n === 50 ? { key: n } : `key ${n}`, one(n)] as const);
  return {
    record: Object.fromEntries(all.map(([, value], n) => [`key ${n}`, value])),
    map: new Map(all),
    set: new Set([...all.map(([, value]) => ({ ...value })), ...all.map((_, n) => `text ${n}`)]),
  } satisfies Many as Values;
}

const MANY_CHANGES: [string, (values: Many) => unknown][] = [
  ["a member of a record's value", ({ record }) => Object.assign(record["key 7"] as object, { n: -7 })],
  ["an element inside of a record's value", ({ record }) => record["key 70"]?.tags.push("c")],
  ["a record's value that goes", ({ record }) => Reflect.deleteProperty(record, "key 20")],
  ["a record's value that comes", ({ record }) => Object.assign(record, { more: { n: 0, tags: [] } })],
  ["a member of a map's value", ({ map }) => Object.assign(map.get("key 7") as object, { n: -7 })],
  ["a member of a map's key", ({ map }) => Object.assign([...map.keys()][50] as object, { key: -50 })],
  ["a map's value", ({ map }) => map.set("key 30", { n: 30, tags: [] })],
  ["a member of a set's element", ({ set }) => Object.assign([...set][3] as object, { n: -3 })],
  ["a set's text", ({ set }) => set.delete("text 9")],
];

const signals = new WeakMap<Values, AbortSignal>();

/** As in one invocation of a graph: the same signal in every call. */
function signalOf(values: Values): AbortSignal {
  const signal = signals.get(values) ?? new AbortController().signal;
  signals.set(values, signal);
  return signal;
}

function plainState(length: number): Values {
  const long = { text: "long enough to be stored on its own ".repeat(10), nested: { leaf: 1 } };
  const built = { when: new Date(0), pairs: new Map([["k", 1]]), set: new Set([1]), bytes: new Uint8Array([1]) };
  const list = [built, ...Array.from({ length }, (_, n) => record(n))];
  return { list, map: { a: long, b: { ...long, n: 2 } } } satisfies State;
}

function record(n: number) {
  return { text: `record ${n}`, zero: 0, inner: { leaf: `leaf ${n}`, deeper: { leaf: n } }, tags: ["a", "b"] };
}

function messages(length: number): BaseMessage[] {
  const asked = Array.from({ length }, (_, n) => new HumanMessage({ id: `${n}`, content: `${n}` }));
  const answer = new AIMessage({
    id: "answer",
    content: [{ type: "text", text: "calling" }],
    tool_calls: [
      { id: "1", name: "look", args: { deep: { n: 1 } } },
      { id: "2", name: "read", args: {} },
    ],
    additional_kwargs: { kept: true },
    response_metadata: { model: "m" },
  });
  const result = new ToolMessage({
    id: "result",
    tool_call_id: "1",
    content: "ok",
    metadata: { versions: { core: "1" } },
  });
  return [...asked, answer, result];
}
