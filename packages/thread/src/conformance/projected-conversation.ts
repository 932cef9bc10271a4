import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import type { Storage } from "../storage.ts";

/** What a rebuild reports that found nothing to do. */
export const UNTOUCHED = { repaired: 0, added: 0, removed: 0 };

export function human(id: string, content = id): HumanMessage {
  return new HumanMessage({ id, content });
}

/** A model's call of a tool, and its result, in two steps. */
export function answering(checkpointer: CheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => {
      const at = messages.at(-1)?.id as string;
      const tool_calls = [{ id: "c", name: "look", args: { at } }];
      const usage_metadata = { input_tokens: 1, output_tokens: 7, total_tokens: 8 };
      const message = new AIMessage({ id: `${at} call`, content: "", tool_calls });
      return { messages: Object.assign(message, { usage_metadata, response_metadata: { model_name: "m" } }) };
    })
    .addNode("tools", ({ messages }) => {
      const id = `${messages.at(-2)?.id} result`;
      return { messages: new ToolMessage({ id, content: "found", tool_call_id: "c" }) };
    })
    .addEdge(START, "model")
    .addEdge("model", "tools")
    .addEdge("tools", END)
    .compile({ checkpointer });
}

export async function rowIds(storage: Storage, session_id: string): Promise<string[]> {
  return (await storage.listMessagesForSession(session_id)).map(({ id }) => id);
}

export async function expectRows(storage: Storage, session_id: string, ids: string[]): Promise<void> {
  expect(await rowIds(storage, session_id)).toEqual(ids);
  await expectRebuilt(storage, session_id);
  expect(await rowIds(storage, session_id)).toEqual(ids);
}

/** What the commits have made of the rows is what a rebuild from nothing would make of them. */
export async function expectRebuilt(storage: Storage, session_id: string): Promise<void> {
  const before = await storage.listMessagesForSession(session_id);
  expect(await storage.getSession(session_id)).toMatchObject({ message_count: before.length });
  expect(await storage.rebuildMessages(session_id)).toMatchObject(UNTOUCHED);
  expect(await storage.listMessagesForSession(session_id)).toEqual(before);
}
