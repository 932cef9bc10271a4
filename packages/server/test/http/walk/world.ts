import { randomUUID } from "node:crypto";
import type {
  Artifact,
  CheckpointPage,
  DeliveryPage,
  Interrupt,
  MessagePage,
  RunPage,
  Scope,
  Session,
  Task,
} from "@cognition/contract";
import { scopeHeader } from "@cognition/contract";
import { readEvents } from "../read-events.ts";
import type { Ask } from "./send.ts";

/** Files of `.cognition/agents` that a world needs. */
export const AGENT_FILES = {
  "careful.md": `---
name: careful
description: Asks before it runs anything.
interrupt_on:
  execute: true
---
You are careful.
`,
};

/** Where callbacks go; nobody listens there, and a server must be told that it may call it. */
export const RECEIVER = "127.0.0.1:9";

/** One of everything that a scope can own, each with a mark in its text by which it is recognised anywhere. */
export interface World {
  readonly scope: Scope;
  readonly headers: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly message_id: string;
  readonly checkpoint_id: string;
  readonly waiting_id: string;
  readonly interrupt_id: string;
  readonly tool_call_id: string;
  readonly artifact_id: string;
  readonly delivery_id: string;
  readonly agent_name: string;
  /** Another agent, that the first may call. */
  readonly helper_name: string;
  readonly provider_id: string;
  readonly label: string;
  readonly key: string;
  readonly task_id: string;
  readonly conversation_id: string;
  readonly chat_id: string;
  readonly file: string;
}

export interface WorldOptions {
  readonly ask: Ask;
  /** Where callbacks go. */
  readonly receiver?: string;
  /** A scope of its own by default. */
  readonly scope?: Scope;
}

export function headersOf(scope: Scope): Record<string, string> {
  return Object.fromEntries(Object.entries(scope).map(([key, value]) => [scopeHeader(key), value]));
}

export async function createWorld({ ask, scope: given, receiver = RECEIVER }: WorldOptions): Promise<World> {
  const tag = randomUUID().slice(0, 8);
  const scope = given ?? { user: `user-${tag}`, project: "common" };
  const headers = headersOf(scope);
  const names = {
    mark: `mark-${tag}`,
    user_id: scope["user"] as string,
    agent_name: `agent-${tag}`,
    helper_name: `helper-${tag}`,
    provider_id: `provider-${tag}`,
    label: `label-${tag}`,
    key: `key-${tag}`,
    chat_id: `chat-${tag}`,
    file: `${tag}.txt`,
  };
  const owner = asOwner(ask, headers);
  await makeDefinitions(owner, names);
  const [conversation, approval, content] = await Promise.all([
    makeConversation(owner, names, receiver),
    makeApproval(owner, names),
    makeContent(owner, names),
  ]);
  return { scope, headers, ...names, ...conversation, ...approval, ...content };
}

type Names = Pick<
  World,
  "mark" | "user_id" | "agent_name" | "helper_name" | "provider_id" | "label" | "key" | "chat_id" | "file"
>;
type Owner = ReturnType<typeof asOwner>;

function asOwner(ask: Ask, headers: Record<string, string>) {
  async function send(method: string, path: string, body?: string): Promise<Response> {
    const response = await ask(path, { method, headers, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
  return {
    write: send,
    make: async <T>(method: string, path: string, json: unknown) =>
      (await (await send(method, path, JSON.stringify(json))).json()) as T,
    read: async <T>(path: string) => (await (await send("GET", path)).json()) as T,
    say: async (session_id: string, message: object) =>
      readEvents(await send("POST", `/sessions/${session_id}/messages`, JSON.stringify(message))),
  };
}

async function makeDefinitions({ make }: Owner, { agent_name, helper_name, provider_id: id, mark }: Names) {
  for (const name of [agent_name, helper_name]) await make("POST", "/agents", { name, system_prompt: mark });
  await make("POST", "/models/providers", { id, provider: "offline", model: "any", display_name: mark });
}

async function makeConversation({ make, write, read, say }: Owner, { mark, file }: Names, receiver: string) {
  const { id: session_id } = await make<Session>("POST", "/sessions", { title: mark, metadata: { mark } });
  const at = `/sessions/${session_id}`;
  await write("PUT", `${at}/files/${file}`, mark);
  await say(session_id, { content: `Say ${mark}`, callback_url: `http://${receiver}/${mark}` });
  const { runs } = await read<RunPage>(`${at}/runs`);
  const { messages } = await read<MessagePage>(`${at}/messages`);
  const { checkpoints } = await read<CheckpointPage>(`${at}/checkpoints`);
  const { deliveries } = await read<DeliveryPage>(`/deliveries?session_id=${session_id}`);
  const artifact = { name: mark, content: mark, session_id };
  const { id: artifact_id } = await make<Artifact>("POST", "/artifacts", artifact);
  await make("POST", "/artifacts", { ...artifact, visibility: "public" });
  return {
    session_id,
    artifact_id,
    run_id: must(runs[0]?.id),
    message_id: must(messages.find(({ role }) => role === "user")?.id),
    checkpoint_id: must(checkpoints[0]?.id),
    delivery_id: must(deliveries[0]?.id),
  };
}

async function makeApproval({ make, say }: Owner, { mark }: Names) {
  const { id } = await make<Session>("POST", "/sessions", { title: mark, agent_name: "careful" });
  const events = await say(id, { content: `Run the command: echo ${mark}` });
  const { interrupts } = must(events.at(-1)).data as { interrupts: Interrupt[] };
  const [interrupt] = interrupts;
  return { waiting_id: id, interrupt_id: must(interrupt?.id), tool_call_id: must(interrupt?.tool_call_id) };
}

async function makeContent({ make }: Owner, { mark, user_id, label, key, chat_id }: Names) {
  const user = encodeURIComponent(user_id);
  await make("PUT", "/store/items", { namespace: [label], key, value: { mark } });
  await make("PUT", `/profiles/${user}`, { goals: [mark] });
  const { task_id, conversation_id } = await make<Task>("POST", "/tasks", { query: mark, user_id });
  await make("PUT", `/chats/${user}/${chat_id}`, {});
  return { task_id, conversation_id };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the world lacks what it was made for");
  return value;
}
