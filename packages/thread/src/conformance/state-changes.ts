import type { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

type Members = Record<string, unknown>;

export interface State {
  list: Members[];
  map: Record<string, Members>;
}

/** What a node may do to the objects of its state instead of returning new ones. */
export const CHANGES: [string, (state: State) => unknown][] = [
  ["a member replaced", ({ list }) => set(last(list), "text", "other")],
  ["0 became -0", ({ list }) => set(last(list), "zero", -0)],
  ["a member added", ({ list }) => set(last(list), "added", 1)],
  ["a member deleted", ({ list }) => remove(last(list), "text")],
  ["a member set to undefined", ({ list }) => set(last(list), "text", undefined)],
  ["a member two levels down", ({ list }) => set(last(list)["inner"], "leaf", "other")],
  ["a member three levels down", ({ list }) => set((last(list)["inner"] as Members)["deeper"], "leaf", "other")],
  ["a member added two levels down", ({ list }) => set(last(list)["inner"], "more", true)],
  ["an array grown", ({ list }) => tags(list).push("c")],
  ["an array spliced", ({ list }) => tags(list).splice(0, 1, "z", "y")],
  ["an array emptied", ({ list }) => tags(list).splice(0)],
  ["an element replaced", ({ list }) => list.splice(-1, 1, { other: true })],
  ["an element removed", ({ list }) => list.shift()],
  ["an element put in front", ({ list }) => list.unshift({ first: true })],
  ["another order", ({ list }) => list.push({ new: true }) && list.reverse()],
  ["the same object twice", ({ list }) => list.push(last(list))],
  ["the same object twice, and changed", ({ list }) => list.push(last(list)) && set(last(list), "text", "twice")],
  ["a primitive in the place of an object", ({ list }) => list.splice(-1, 1, "text" as unknown as Members)],
  ["an object in a map changed", ({ map }) => set(map["a"], "text", "other ".repeat(60))],
  ["an object in a map changed deep down", ({ map }) => set(map["a"]?.["nested"], "leaf", 2)],
  ["an object taken out of a map", ({ map }) => remove(map, "a")],
  ["an object in a map that is in the list too", ({ list, map }) => set(map, "c", last(list))],
  ["a Date changed", ({ list }) => (first(list)["when"] as Date).setFullYear(2001)],
  ["a Map changed", ({ list }) => (first(list)["pairs"] as Map<string, number>).set("k", -1)],
  ["a Set changed", ({ list }) => (first(list)["set"] as Set<number>).add(-1)],
  ["bytes changed", ({ list }) => (first(list)["bytes"] as Uint8Array).fill(255)],
];

/** LangChain's own middleware does some of these: the one for approvals replaces the tool calls of a stored message. */
export const MESSAGE_CHANGES: [string, (message: AIMessage) => unknown][] = [
  ["content", (message) => set(message, "content", "other")],
  ["a content block", (message) => set((message.content as Members[])[0], "text", "other")],
  ["another id", (message) => set(message, "id", "assigned")],
  ["tool calls replaced", (message) => set(message, "tool_calls", [{ id: "3", name: "other", args: {} }])],
  ["no tool calls any more", (message) => set(message, "tool_calls", [])],
  ["one tool call less", (message) => message.tool_calls?.pop()],
  ["an argument of a tool call", (message) => set(message.tool_calls?.[0]?.args, "added", { n: 2 })],
  ["a deep argument of a tool call", (message) => set(message.tool_calls?.[0]?.args["deep"], "n", 2)],
  ["additional_kwargs", (message) => set(message.additional_kwargs, "added", 1)],
  ["response_metadata", (message) => set(message.response_metadata, "model", "other")],
  ["usage", (message) => set(message, "usage_metadata", { input_tokens: 1, output_tokens: 2, total_tokens: 3 })],
  ["a name", (message) => set(message, "name", "named")],
  ["a member that the class doesn't know", (message) => set(message, "extra", { a: 1 })],
  ["a member in the place of another", swapMember],
];

/** A saver may know what to look at in a tool's message, and what in any other. */
export const TOOL_MESSAGE_CHANGES: [string, (message: ToolMessage) => unknown][] = [
  ["content", (message) => set(message, "content", "other")],
  ["another id", (message) => set(message, "id", "assigned")],
  ["a name", (message) => set(message, "name", "named")],
  ["status", (message) => set(message, "status", "error")],
  ["the call it answers", (message) => set(message, "tool_call_id", "2")],
  ["an artifact", (message) => set(message, "artifact", { file: "a" })],
  ["metadata deep down", (message) => set(message.metadata?.["versions"], "core", "2")],
  ["additional_kwargs replaced", (message) => set(message, "additional_kwargs", { added: 1 })],
  ["response_metadata", (message) => set(message.response_metadata, "added", 1)],
  ["a member that the class doesn't know", (message) => set(message, "extra", { a: 1 })],
];

export const HUMAN_MESSAGE_CHANGES: [string, (message: HumanMessage) => unknown][] = [
  ["content", (message) => set(message, "content", "other")],
  ["another id", (message) => set(message, "id", "assigned")],
  ["a name", (message) => set(message, "name", "named")],
  ["additional_kwargs", (message) => set(message.additional_kwargs, "added", 1)],
  ["response_metadata replaced", (message) => set(message, "response_metadata", { model: "m" })],
  ["a member that the class doesn't know", (message) => set(message, "extra", { a: 1 })],
];

function swapMember(message: AIMessage): void {
  remove(message, "usage_metadata");
  set(message, "extra", 1);
}

function set(object: unknown, key: string, value: unknown): void {
  (object as Members)[key] = value;
}

function remove(object: unknown, key: string): void {
  delete (object as Members)[key];
}

function first(list: Members[]): Members {
  return list[0] as Members;
}

function last(list: Members[]): Members {
  return list.at(-1) as Members;
}

function tags(list: Members[]): string[] {
  return last(list)["tags"] as string[];
}
