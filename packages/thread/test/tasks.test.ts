import { describe, expect, it } from "vitest";
import { taskContract } from "../src/conformance/task-contract.ts";
import { withStorage } from "../src/conformance/with-storage.ts";
import { createTasks } from "../src/task/tasks.ts";
import { engines, onEveryEngine } from "./engines.ts";

onEveryEngine("tasks", taskContract);

describe.each(engines)("a task with a long conversation on $name", ({ open }) => {
  it(
    "is refused where at most so many bytes are wanted, and nothing is begun on it; without a limit it is given",
    withStorage(open, async ({ storage }) => {
      const tasks = createTasks(storage);
      const { task_id, conversation_id } = await tasks.startTask({ query: "q", max_bytes: 0 });
      // A letter of two bytes.
      await storage.createMessage({ session_id: conversation_id, role: "user", content: "é".repeat(600) });
      const refused = { code: "limit_exceeded", details: { limit: "answer", max_bytes: 1_000 } };
      await expect(tasks.continueTask({ task_id, max_bytes: 1_000 })).rejects.toMatchObject(refused);
      const onto = { query: "another", conversation_id };
      await expect(tasks.startTask({ ...onto, max_bytes: 1_000 })).rejects.toMatchObject(refused);
      expect(await storage.tasks.listTasks()).toMatchObject([{ task_id }]);
      for (const more of [{}, { max_bytes: 2_000 }])
        expect((await tasks.continueTask({ task_id, ...more })).conversation.messages).toHaveLength(1);
      expect((await tasks.startTask(onto)).execution.messages).toHaveLength(1);
      await expect(tasks.continueTask({ task_id: "none", max_bytes: 1 })).rejects.toMatchObject({
        code: "task_not_found",
      });
    }),
  );
});
