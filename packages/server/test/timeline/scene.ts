import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RewindSession, Session } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { expect } from "vitest";
import { createMemoryDir, createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { compose, type Runtime } from "../../src/compose.ts";

const MEMORIES = ["memories"];

type Timeline = Storage["timeline"];
/** Makes one method of the storage wrong, to see that it is noticed. */
export type Mutate = (timeline: Timeline, uri: string) => Timeline;

/** A server's parts on a database and a folder that outlive it, and the session at hand. */
export class Scene {
  readonly #uri: string;
  readonly #mutate: Mutate | undefined;
  readonly #clean: () => unknown;
  readonly #workspaces: TempDir;
  readonly root: string;
  storage!: Storage;
  runtime!: Runtime;
  session!: Session;
  readonly errors: unknown[] = [];

  private constructor(uri: string, clean: () => unknown, mutate: Mutate | undefined) {
    this.#uri = uri;
    this.#clean = clean;
    this.#mutate = mutate;
    this.#workspaces = createTempDir();
    this.root = this.#workspaces.path;
  }

  static async open(uri?: string, remove: () => unknown = () => undefined, mutate?: Mutate): Promise<Scene> {
    const dir = uri === undefined ? createMemoryDir() : undefined;
    const clean = async () => {
      await remove();
      dir?.remove();
    };
    const scene = new Scene(uri ?? join(dir?.path ?? "", "state.db"), clean, mutate);
    await scene.#start();
    scene.session = await scene.storage.createSession({});
    mkdirSync(scene.folder, { recursive: true });
    return scene;
  }

  async #start(): Promise<void> {
    const storage = await openStorage({ uri: this.#uri, pool: { min: 0, max: 3 } });
    this.storage = this.#mutate ? { ...storage, timeline: this.#mutate(storage.timeline, this.#uri) } : storage;
    this.runtime = await compose({
      storage: this.storage,
      workspace_root: this.root,
      env: { PATH: process.env["PATH"] },
      engine: { poll_ms: 20 },
      onError: (error) => this.errors.push(error),
    });
    this.runtime.engine.start();
  }

  get folder(): string {
    return join(this.root, this.session.id);
  }

  /** As after a crash: nothing is said goodbye to but the database's connection. */
  async reopen(): Promise<void> {
    await this.runtime.close(0);
    await this.storage.close();
    await this.#start();
  }

  async close(): Promise<void> {
    await this.runtime.close(0);
    await this.storage.close();
    await this.#clean();
    this.#workspaces.remove();
  }

  async say(content: string): Promise<void> {
    await this.#run({ kind: "message", message_id: crypto.randomUUID(), content });
  }

  async goOn(): Promise<void> {
    await this.#run({ kind: "continue" });
  }

  /** Begins a command that takes long, and stops it. */
  async abort(content: string): Promise<void> {
    const run_id = await this.#submit({ kind: "message", message_id: crypto.randomUUID(), content });
    await expect.poll(async () => (await this.storage.listToolCalls(run_id)).length, { timeout: 50_000 }).toBe(1);
    await this.runtime.engine.abort(this.session.id);
    await this.#ended(run_id);
  }

  async rewind(body: Partial<RewindSession>) {
    const session = await this.current();
    return this.runtime.timeline.rewind(session, {
      restore: ["conversation", "files", "artifacts", "memory"],
      force: false,
      dry_run: false,
      ...body,
    });
  }

  async current(): Promise<Session> {
    const session = await this.storage.getSession(this.session.id);
    if (!session) throw new Error("the session is gone");
    return session;
  }

  async head(): Promise<string> {
    const [newest] = await this.storage.timeline.readTimeline(this.session.id, { limit: 1 });
    if (!newest) throw new Error("the session has no checkpoint");
    return newest.checkpoint_id;
  }

  async texts(): Promise<string[]> {
    const messages = await this.storage.listMessagesForSession(this.session.id);
    return messages.filter(({ role }) => role === "user").map(({ content }) => String(content));
  }

  files(): Record<string, string> {
    const names = existsSync(this.folder) ? readdirSync(this.folder) : [];
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(this.folder, name), "utf8")]));
  }

  edit(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  async artifacts(): Promise<Record<string, string>> {
    const reader = { session_id: this.session.id };
    const { artifacts } = await this.storage.artifacts.listArtifacts(reader, { limit: 500 });
    const read = artifacts.map(async ({ id, name }) => [
      name,
      (await this.storage.artifacts.getArtifact(id, reader)).content,
    ]);
    return Object.fromEntries(await Promise.all(read));
  }

  /** As the session's tools write it; null takes it away. */
  async remember(key: string, content: string | null): Promise<void> {
    const store = (await this.storage.getStore(this.session.scopes)).recordedFor(this.session.thread_id);
    if (content === null) await store.delete(MEMORIES, key);
    else await store.put(MEMORIES, key, { content });
  }

  async memory(): Promise<Record<string, string>> {
    const store = await this.storage.getStore(this.session.scopes);
    const items = await store.search(MEMORIES, { limit: 500 });
    return Object.fromEntries(items.map(({ key, value }) => [key, String(value["content"])]));
  }

  async #run(input: Record<string, unknown>): Promise<void> {
    await this.#ended(await this.#submit(input));
  }

  async #submit(input: Record<string, unknown>): Promise<string> {
    const { message_id: id, content } = input as { message_id?: string; content?: string };
    const message = id === undefined ? {} : { message: { id, role: "user" as const, content: content ?? "" } };
    const { run } = await this.runtime.engine.submit({ session_id: this.session.id, input, ...message });
    return run.id;
  }

  async #ended(run_id: string): Promise<void> {
    const ended = async () => ["succeeded", "failed", "aborted"].includes((await this.storage.getRun(run_id)).status);
    await expect.poll(ended, { timeout: 50_000, interval: 5 }).toBe(true);
  }
}
