import { randomUUID } from "node:crypto";
import type {
  Artifact,
  Chat,
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
  const mark = `mark-${tag}`;
  const names = {
    agent_name: `agent-${tag}`,
    helper_name: `helper-${tag}`,
    provider_id: `provider-${tag}`,
    label: `label-${tag}`,
    key: `key-${tag}`,
  };
  const user_id = scope["user"] as string;
  const chat_id = `chat-${tag}`;
  const file = `${tag}.txt`;
  const callback_url = `http://${receiver}/${mark}`;

  async function make<T>(method: string, path: string, json: unknown): Promise<T> {
    const response = await ask(path, { method, headers, body: JSON.stringify(json) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
  const read = async <T>(path: string) => (await (await ask(path, { headers })).json()) as T;

  for (const name of [names.agent_name, names.helper_name])
    await make("POST", "/agents", { name, system_prompt: mark });
  await make("POST", "/models/providers", {
    id: names.provider_id,
    provider: "offline",
    model: "any",
    display_name: mark,
  });
  const { id: session_id } = await make<Session>("POST", "/sessions", { title: mark, metadata: { mark } });
  await ask(`/sessions/${session_id}/files/${file}`, { method: "PUT", headers, body: mark });
  await readEvents(await send(ask, headers, session_id, { content: `Say ${mark}`, callback_url }));
  const { runs } = await read<RunPage>(`/sessions/${session_id}/runs`);
  const { messages } = await read<MessagePage>(`/sessions/${session_id}/messages`);
  const { checkpoints } = await read<CheckpointPage>(`/sessions/${session_id}/checkpoints`);
  const waiting = await make<Session>("POST", "/sessions", { title: mark, agent_name: "careful" });
  const asked = await readEvents(await send(ask, headers, waiting.id, { content: `Run the command: echo ${mark}` }));
  const { interrupts } = must(asked.at(-1)).data as { interrupts: Interrupt[] };
  const artifact = { name: mark, content: mark, session_id };
  const { id: artifact_id } = await make<Artifact>("POST", "/artifacts", artifact);
  await make("POST", "/artifacts", { ...artifact, visibility: "public" });
  await make("PUT", "/store/items", { namespace: [names.label], key: names.key, value: { mark } });
  await make("PUT", `/profiles/${encodeURIComponent(user_id)}`, { goals: [mark] });
  const task = await make<Task>("POST", "/tasks", { query: mark, user_id });
  await make<Chat>("PUT", `/chats/${encodeURIComponent(user_id)}/${chat_id}`, {});
  const { deliveries } = await read<DeliveryPage>(`/deliveries?session_id=${session_id}`);

  return {
    ...{ scope, headers, mark, ...names, user_id, chat_id, file, session_id, artifact_id },
    delivery_id: must(deliveries[0]?.id),
    run_id: must(runs[0]?.id),
    message_id: must(messages.find(({ role }) => role === "user")?.id),
    checkpoint_id: must(checkpoints[0]?.id),
    waiting_id: waiting.id,
    interrupt_id: must(interrupts[0]?.id),
    tool_call_id: must(interrupts[0]?.tool_call_id),
    task_id: task.task_id,
    conversation_id: task.conversation_id,
  };
}

function send(ask: Ask, headers: Record<string, string>, session_id: string, message: object): Promise<Response> {
  return ask(`/sessions/${session_id}/messages`, { method: "POST", headers, body: JSON.stringify(message) });
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the world lacks what it was made for");
  return value;
}
