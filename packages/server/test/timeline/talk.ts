import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint, Message, RewindResult, Session } from "@cognition/contract";
import { startTestServer, type TestServer, type TestServerOptions } from "../http/test-server.ts";

type Json = Record<string, unknown>;

/** A session that is talked to over HTTP, and its folder. */
export interface Talk {
  on: TestServer;
  session: Session;
  /** Sends a message and waits for the run's end. */
  say(content: string, fields?: Json): Promise<void>;
  post<T = Json>(path: string, body: unknown): Promise<{ status: number; body: T }>;
  get<T = Json>(path: string): Promise<{ status: number; body: T }>;
  rewind(body: unknown): Promise<RewindResult>;
  texts(): Promise<string[]>;
  roles(query?: string): Promise<string[]>;
  checkpoints(): Promise<Checkpoint[]>;
  /** The text of a file, or undefined. */
  file(name: string): string | undefined;
}

export async function startTalk(options: TestServerOptions = {}, fields: Json = {}): Promise<Talk> {
  const on = await startTestServer(options);
  return talkTo(on, await on.createSession(fields));
}

export function talkTo(on: TestServer, session: Session): Talk {
  const path = `/sessions/${session.id}`;
  const folder = session.workspace_path ?? join(on.root, session.id);
  const answer = async <T>(response: Response) => ({ status: response.status, body: (await response.json()) as T });
  const get = async <T>(rest: string) => answer<T>(await on.ask(`${path}${rest}`));
  const post = async <T>(rest: string, json: unknown) =>
    answer<T>(await on.ask(`${path}${rest}`, { method: "POST", json, headers: { Accept: "application/json" } }));
  const messages = async (query = "") =>
    (await get<{ messages: Message[] }>(`/messages?order=asc&limit=500${query}`)).body.messages;
  return {
    on,
    session,
    get,
    post,
    say: async (content, fields = {}) => {
      const { status, body } = await post("/messages", { content, ...fields });
      if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    },
    rewind: async (body) => {
      const { status, body: result } = await post<RewindResult>("/rewind", body);
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(result)}`);
      return result;
    },
    texts: async () => (await messages()).filter(({ role }) => role === "user").map(({ content }) => String(content)),
    roles: async (query) => (await messages(query)).map(({ role }) => role),
    checkpoints: async () => (await get<{ checkpoints: Checkpoint[] }>("/checkpoints?limit=200")).body.checkpoints,
    file: (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : undefined),
  };
}

export const make = (name: string, word: string) => `Create a file named ${name} containing exactly the word ${word}`;
