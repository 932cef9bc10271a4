import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMemoryDir } from "../../../../testing/temp-dir.ts";
import { Scene } from "./scene.ts";

const CHILD = join(import.meta.dirname, "../children/rewind-once.ts");
let uri: string;
let scene: Scene;

beforeEach(async () => {
  const dir = createMemoryDir();
  uri = join(dir.path, "state.db");
  scene = await Scene.open(uri, () => dir.remove());
});
afterEach(() => scene.close());

const file = (name: string) => `Create a file named ${name} containing exactly the word ${name}`;

async function look() {
  return { texts: await scene.texts(), files: scene.files(), artifacts: await scene.artifacts() };
}

async function write(content: string): Promise<void> {
  const fields = { name: content, artifact_type: "artifact" as const, visibility: "private" as const, content };
  await scene.storage.artifacts.createArtifact({ ...fields, session_id: scene.session.id });
}

/** True if it came to its end before it was to die. */
async function rewindAndDie(checkpoint_id: string, dies_at: number): Promise<boolean> {
  const order = { uri, root: scene.root, session_id: scene.session.id, checkpoint_id, dies_at };
  const args = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", CHILD, JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  const [code, signal] = await once(child, "exit");
  if (signal !== "SIGKILL") expect(code, "the rewind itself failed").toBe(0);
  return signal !== "SIGKILL";
}

it("a rewind that is killed at any step of its work is afterwards done as a whole, or not at all", async () => {
  await scene.say(file("a.txt"));
  await write("kept");
  await scene.say(file("b.txt"));
  const there = { id: await scene.head(), ...(await look()) };
  await write("undone");
  for (const name of ["c.txt", "d.txt"]) await scene.say(file(name));
  await scene.say("Run the command: cp a.txt b.txt");
  const here = await look();
  const { id: target, ...wanted } = there;
  const outcomes = { before: 0, after: 0 };
  for (let dies_at = 0; ; dies_at++) {
    await scene.runtime.close(0);
    const head = await scene.head();
    const finished = await rewindAndDie(target, dies_at);
    await scene.reopen();
    const moved = (await scene.head()) !== head;
    // Whoever needs the files next finishes what was begun.
    await scene.runtime.sessions.openFiles(scene.session.id);
    expect(await look(), `killed at step ${dies_at}`).toEqual(moved ? wanted : here);
    expect(await scene.storage.rebuildMessages(scene.session.id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    outcomes[moved ? "after" : "before"]++;
    if (finished) break;
    if (moved) await scene.rewind({ checkpoint_id: head });
    expect(await look()).toEqual(here);
  }
  expect(outcomes.before).toBeGreaterThan(5);
  expect(outcomes.after).toBeGreaterThan(3);
  console.info(`killed ${outcomes.before} times before the commit and ${outcomes.after} times after it`);
}, 1_800_000);
