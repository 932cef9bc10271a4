import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent, fakeModel, tool } from "langchain";
import type { Scene } from "./conversation.ts";
import { callTool } from "./journal.ts";

const ANSWERS = 4;

/** LangChain's agent with a model that asks for two tools at once and then answers. */
export function agent({ work, claimed, log }: Scene) {
  const { run_id } = claimed;

  function respond(messages: BaseMessage[]): BaseMessage {
    const id = `${run_id}:model:${messages.length}`;
    log.token(id);
    if (messages.at(-1)?.getType() !== "human") return new AIMessage({ id, content: "Both are noted." });
    const call = (name: string) => ({ id: `${run_id}:${name}`, name, args: {}, type: "tool_call" as const });
    return new AIMessage({ id, content: "", tool_calls: [call("note_once"), call("note_again")] });
  }

  const note = (name: string, on_crash: "never" | "retry") =>
    tool(
      async (_args, config) => {
        const ns = String(config.configurable?.["checkpoint_ns"] ?? "");
        return callTool(work, { claimed, log, ns, tool_call_id: `${run_id}:${name}`, on_crash });
      },
      { name, description: "Notes something down", schema: { type: "object", properties: {} } },
    );

  const model = fakeModel();
  for (let n = 0; n < ANSWERS; n++) model.respond(respond);
  return createAgent({
    model,
    tools: [note("note_once", "never"), note("note_again", "retry")],
    checkpointer: work.saver,
  });
}
