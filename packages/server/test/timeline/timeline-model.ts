import type { TimelineEntry } from "@cognition/thread";
import fc from "fast-check";
import { expect } from "vitest";
import type { Scene } from "./scene.ts";

type Files = Record<string, string>;

/** A point that the session can go back to. */
interface Point {
  checkpoint_id: string;
  texts: string[];
  /** The files as they were stored there. */
  files: Files;
  artifacts: Files;
  memory: Files;
}

/** What a person would expect, kept in a few plain values. */
export interface Model {
  texts: string[];
  /** What is in the folder, and where the storage says that it stands. */
  files: Files;
  standing: Files;
  artifacts: Files;
  memory: Files;
  points: Point[];
  previous: Point | undefined;
  count: number;
}

export const emptyModel = (): Model => ({
  ...{ texts: [], files: {}, standing: {}, artifacts: {}, memory: {}, points: [], previous: undefined },
  count: 0,
});

const KINDS = [
  "message",
  "tool",
  "edit",
  "shell",
  "artifact",
  "memory",
  "fork",
  "rewind",
  "redo",
  "retry",
  "abort",
  "crash",
  "prune",
] as const;
type Kind = (typeof KINDS)[number];

export interface Operation {
  kind: Kind;
  pick: number;
}

/** What makes points, and what goes between them, more often than what only disturbs. */
const WEIGHTS: Record<Kind, number> = {
  ...{ message: 3, tool: 5, edit: 3, shell: 3, artifact: 3, memory: 3, fork: 1, rewind: 6, redo: 2, retry: 2 },
  ...{ abort: 1, crash: 1, prune: 1 },
};

export function sequences(length: number): fc.Arbitrary<Operation[]> {
  const kinds = KINDS.flatMap((kind) => Array.from({ length: WEIGHTS[kind] }, () => kind));
  const operation = fc.record({ kind: fc.constantFrom(...kinds), pick: fc.nat(1_000) });
  return fc.array(operation, { minLength: length, maxLength: length + 10 });
}

/** One operation on both, and then both must say the same. */
export async function step(scene: Scene, model: Model, { kind, pick }: Operation): Promise<void> {
  await OPERATIONS[kind](scene, model, pick);
  const what = `after ${kind} ${pick}`;
  expect(await scene.texts(), `conversation ${what}`).toEqual(model.texts);
  expect(scene.files(), `files ${what}`).toEqual(model.files);
  expect(await scene.artifacts(), `artifacts ${what}`).toEqual(model.artifacts);
  expect(await scene.memory(), `memory ${what}`).toEqual(model.memory);
}

/** What an abort stops; done again, it would take as long. */
const ENDLESS = "Run the command: sleep 30";

type Run = (scene: Scene, model: Model, pick: number) => Promise<void>;

const OPERATIONS: Record<Kind, Run> = {
  message: (scene, model) => turn(scene, model, `Hello number ${model.count++}`, () => undefined),
  tool: (scene, model) => {
    const name = `f${model.count++}.txt`;
    return turn(scene, model, `Create a file named ${name} containing exactly the word ${name}`, (files) => {
      files[name] = name;
    });
  },
  shell: async (scene, model, pick) => {
    const names = Object.keys(model.files).toSorted();
    const from = names[pick % Math.max(names.length, 1)];
    if (from === undefined) return;
    const to =
      names[(pick * 7) % names.length] === from ? `copy${model.count++}` : (names[(pick * 7) % names.length] ?? "");
    await turn(scene, model, `Run the command: cp ${from} ${to}`, (files) => {
      files[to] = files[from] ?? "";
    });
  },
  edit: async (scene, model, pick) => {
    const names = Object.keys(model.files).toSorted();
    const name = pick % 2 === 0 || names.length === 0 ? `own${model.count++}` : (names[pick % names.length] ?? "");
    const text = `edited ${model.count++}`;
    scene.edit(name, text);
    model.files = { ...model.files, [name]: text };
  },
  artifact: async (scene, model, pick) => {
    const names = Object.keys(model.artifacts).toSorted();
    const reader = { session_id: scene.session.id };
    const content = `content ${model.count++}`;
    const name = pick % 2 === 0 || names.length === 0 ? `a${model.count++}` : (names[pick % names.length] ?? "");
    if (name in model.artifacts) {
      const { artifacts } = await scene.storage.artifacts.listArtifacts(reader, { name });
      await scene.storage.artifacts.updateArtifact(artifacts[0]?.id ?? "", { content }, reader);
    } else {
      const fields = { name, artifact_type: "artifact" as const, visibility: "private" as const, content };
      await scene.storage.artifacts.createArtifact({ ...fields, session_id: scene.session.id });
    }
    model.artifacts = { ...model.artifacts, [name]: content };
  },
  memory: async (scene, model, pick) => {
    const names = Object.keys(model.memory).toSorted();
    const known = names[pick % Math.max(names.length, 1)];
    const name = pick % 2 === 0 || known === undefined ? `m${model.count++}` : known;
    const content = pick % 5 === 1 ? null : `fact ${model.count++}`;
    await scene.remember(name, content);
    const { [name]: _, ...others } = model.memory;
    model.memory = content === null ? others : { ...others, [name]: content };
  },
  rewind: async (scene, model, pick) => {
    const point = model.points[pick % Math.max(model.points.length, 1)];
    if (point) await goTo(scene, model, point);
  },
  redo: async (scene, model) => {
    if (model.previous) await goTo(scene, model, model.previous);
  },
  retry: async (scene, model) => {
    const result = (await scene.storage.listMessagesForSession(scene.session.id)).findLast(
      ({ role }) => role === "tool",
    );
    const last = (await scene.storage.listMessagesForSession(scene.session.id)).at(-1);
    // Only where the tool was the last turn's, and nobody has touched the files since.
    const ofLastTurn = result !== undefined && result.run_id === last?.run_id && model.texts.at(-1) !== ENDLESS;
    if (!ofLastTurn || JSON.stringify(model.files) !== JSON.stringify(model.standing)) return;
    const { artifacts, memory } = model;
    const then = model.points.at(-1);
    if (JSON.stringify([artifacts, memory]) !== JSON.stringify([then?.artifacts, then?.memory])) return;
    const isLeft = await isWhole(scene, result.checkpoint_id);
    const undo = scene.rewind({ last: "tool", restore: ["conversation", "files"] });
    if (!isLeft) {
      // What the tool came after was pruned: that is said, and nothing happens.
      await expect(undo).rejects.toMatchObject({ code: "checkpoint_not_found" });
      return;
    }
    await undo;
    const roles = (await scene.storage.listMessagesForSession(scene.session.id)).map(({ role }) => role);
    expect(roles.at(-1), "the result is undone").toBe("assistant");
    await scene.goOn();
    await remember(scene, model);
  },
  fork: async (scene, model) => {
    const point = model.points.at(-1);
    if (!point) return;
    const body = { checkpoint_id: point.checkpoint_id, files: true };
    scene.session = await scene.runtime.timeline.fork(await scene.current(), body);
    Object.assign(model, {
      texts: point.texts,
      files: point.files,
      standing: point.files,
      artifacts: {},
      previous: undefined,
    });
    // Memory is no session's own: a fork finds it as it is, and has nothing of it to set back.
    const past = await pastOf(scene, point.checkpoint_id);
    const led = model.points.filter(({ checkpoint_id }) => past.has(checkpoint_id));
    model.points = led.map((each) => ({ ...each, artifacts: {}, memory: model.memory }));
  },
  abort: async (scene, model) => {
    await scene.abort(ENDLESS);
    model.texts = [...model.texts, ENDLESS];
    model.standing = model.files;
    await remember(scene, model);
  },
  crash: (scene) => scene.reopen(),
  prune: async (scene, model) => {
    const saver = await scene.storage.getCheckpointer();
    await saver.prune({ thread_id: scene.session.thread_id, keep_last: 5 });
    const left = await pointsLeft(scene);
    model.points = model.points.filter(({ checkpoint_id }) => left.has(checkpoint_id));
    if (model.previous)
      expect(left.has(model.previous.checkpoint_id), "what can be redone survives a prune").toBe(true);
  },
};

/** Whether both it and the one right before it are there. */
async function isWhole(scene: Scene, checkpoint_id: string | null): Promise<boolean> {
  const known = await knownEntries(scene);
  const entry = known.get(checkpoint_id ?? "");
  return entry !== undefined && known.get(entry.parent_id ?? "")?.step === entry.step - 1;
}

/** The checkpoint and all that led to it. */
async function pastOf(scene: Scene, checkpoint_id: string): Promise<Set<string>> {
  const known = await knownEntries(scene);
  const past = new Set<string>();
  for (let entry = known.get(checkpoint_id); entry; entry = known.get(entry.parent_id ?? ""))
    past.add(entry.checkpoint_id);
  return past;
}

/** Those of the session, and of those that it was forked from. */
async function knownEntries({ storage, session }: Scene): Promise<Map<string, TimelineEntry>> {
  const known = new Map<string, TimelineEntry>();
  for (let id: string | undefined = session.id; id !== undefined; ) {
    for (const entry of await storage.timeline.readTimeline(id, { limit: 500 }))
      if (!known.has(entry.checkpoint_id)) known.set(entry.checkpoint_id, entry);
    id = (await storage.getSession(id))?.parent?.session_id;
  }
  return known;
}

async function pointsLeft({ storage, session }: Scene): Promise<Set<string>> {
  const entries = await storage.timeline.readTimeline(session.id, { limit: 500 });
  return new Set(entries.map((entry) => entry.checkpoint_id));
}

async function turn(scene: Scene, model: Model, text: string, effect: (files: Files) => void): Promise<void> {
  await scene.say(text);
  model.texts = [...model.texts, text];
  const files = { ...model.files };
  effect(files);
  model.files = files;
  model.standing = files;
  await remember(scene, model);
}

async function remember(scene: Scene, model: Model): Promise<void> {
  const { texts, standing: files, artifacts, memory } = model;
  model.points.push({ checkpoint_id: await scene.head(), texts, files, artifacts, memory });
  model.previous = undefined;
}

/** What the storage knows goes there; what only the folder has stays, or is in the way. */
async function goTo(scene: Scene, model: Model, point: Point): Promise<void> {
  const { checkpoint_id, texts, files, artifacts, memory } = point;
  const changed = [...new Set([...Object.keys(model.standing), ...Object.keys(files)])].filter(
    (name) => model.standing[name] !== files[name],
  );
  const inTheWay = changed.filter(
    (name) => model.files[name] !== model.standing[name] && model.files[name] !== files[name],
  );
  if (inTheWay.length > 0) {
    await expect(scene.rewind({ checkpoint_id })).rejects.toMatchObject({
      code: "file_conflict",
      details: { files: inTheWay.toSorted() },
    });
    return;
  }
  const from = { texts: model.texts, files: model.standing, artifacts: model.artifacts, memory: model.memory };
  const { previous_head } = await scene.rewind({ checkpoint_id });
  const now = { ...model.files };
  for (const name of changed) {
    if (files[name] === undefined) delete now[name];
    else now[name] = files[name];
  }
  Object.assign(model, { texts, files: now, standing: files, artifacts, memory });
  model.previous = { checkpoint_id: previous_head ?? "", ...from };
}
