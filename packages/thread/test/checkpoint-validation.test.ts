import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { onEveryEngine } from "./engines.ts";

// The suite counts on globals.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

/** LangGraph's own suite, on every engine, under our own name: nothing in it is skipped for us. */
onEveryEngine("LangGraph's own suite", (open) => {
  const opened = new Map<BaseCheckpointSaver, () => Promise<void>>();
  const initializer = {
    checkpointerName: "cognition",
    async createCheckpointer() {
      const { storage, dispose } = await open();
      const saver = (await storage.getCheckpointer()) as unknown as BaseCheckpointSaver;
      opened.set(saver, dispose);
      return saver;
    },
    async destroyCheckpointer(saver: BaseCheckpointSaver) {
      await opened.get(saver)?.();
      opened.delete(saver);
    },
  };
  validate(initializer);
  deltaChannelHistoryTests(initializer);
});
