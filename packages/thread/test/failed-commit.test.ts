import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { comparable, put, read } from "../src/conformance/checkpoint-line.ts";
import { openStorage } from "../src/open-storage.ts";
import { databases } from "./databases.ts";

/** From so many on it is remembered where each one stood. */
const MANY = 20;

describe.each(databases)("a commit that fails, on $name", ({ create }) => {
  it.each([true, false])(
    "leaves nothing behind that what comes after it could lean on: by the same invocation %s",
    async (isSame) => {
      const { uri, remove } = await create();
      let fails = false;
      const failpoint = () => {
        if (fails) throw new Error("the line went dead");
      };
      const [storage, other] = [await openStorage({ uri, failpoint }), await openStorage({ uri })];
      try {
        const saver = await storage.getCheckpointer();
        const signal = new AbortController().signal;
        const options = isSame ? { signal } : {};
        const list = [message(0)];
        const first = await put(saver, "t", { list, note: "stored" }, options);
        list.push(...Array.from({ length: MANY }, (_, n) => message(n + 1)));
        fails = true;
        await expect(put(saver, first, { list, note: "stored" }, { ...options, changed: ["list"] })).rejects.toThrow();
        fails = false;
        await saver.getTuple({ configurable: { thread_id: "t" }, ...options });
        const values = { list: [...list, message(-1)], note: "stored" };
        const second = await put(saver, first, values, { ...options, changed: ["list"] });
        const third = await put(saver, second, { ...values, note: "new" }, { ...options, changed: ["note"] });
        const reader = await other.getCheckpointer();
        expect(await read(reader, second)).toEqual(comparable(values));
        expect(await read(reader, third)).toEqual(comparable({ ...values, note: "new" }));
      } finally {
        await Promise.all([storage.close(), other.close()]);
        await remove();
      }
    },
  );
});

function message(n: number): AIMessage {
  return new AIMessage({ id: `${n}`, content: `said ${n}` });
}
