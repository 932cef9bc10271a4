import { DatabaseSync } from "node:sqlite";
import type { Mutate } from "./scene.ts";
import type { Operation } from "./timeline-model.ts";

interface Mutant {
  mutate: Mutate;
  /** A short sequence that must tell it from the real one. */
  operations: Operation[];
}

const BACK: Operation[] = [
  { kind: "tool", pick: 0 },
  { kind: "artifact", pick: 0 },
  { kind: "memory", pick: 0 },
  { kind: "tool", pick: 0 },
  { kind: "rewind", pick: 0 },
  { kind: "message", pick: 0 },
];

/** Ways in which it could be wrong and look right at first. */
export const MUTANTS: Record<string, Mutant> = {
  "leaves the files": {
    operations: BACK,
    mutate: (timeline) => ({
      ...timeline,
      rewindSession: ({ snapshot_id: _, ...rest }) => timeline.rewindSession(rest),
    }),
  },
  "leaves the conversation": {
    operations: BACK,
    mutate: (timeline) => ({
      ...timeline,
      rewindSession: (rewind) => timeline.rewindSession({ ...rewind, conversation: false }),
    }),
  },
  "leaves the artifacts": {
    operations: BACK,
    mutate: (timeline) => ({
      ...timeline,
      rewindSession: (rewind) => timeline.rewindSession({ ...rewind, artifacts: false }),
    }),
  },
  "leaves the memory": {
    operations: BACK,
    mutate: (timeline) => ({
      ...timeline,
      rewindSession: (rewind) => timeline.rewindSession({ ...rewind, memory: false }),
    }),
  },
  "loses what was written since the last checkpoint": {
    operations: [
      { kind: "tool", pick: 0 },
      { kind: "memory", pick: 0 },
      { kind: "rewind", pick: 0 },
      { kind: "redo", pick: 0 },
    ],
    mutate: (timeline) => ({
      ...timeline,
      rewindSession: async (rewind) => {
        const moved = await timeline.rewindSession(rewind);
        return { ...moved, previous_head: rewind.expected_head };
      },
    }),
  },
  "keeps pending writes": {
    operations: [
      { kind: "tool", pick: 0 },
      { kind: "retry", pick: 0 },
    ],
    // As if the head only moved: LangGraph then finds what the undone tools had written, and takes it for their results.
    mutate: (timeline, uri) => ({
      ...timeline,
      rewindSession: async (rewind) => {
        const moved = await timeline.rewindSession(rewind);
        const db = new DatabaseSync(uri);
        db.prepare("delete from checkpoints where checkpoint_id = ?").run(moved.head);
        db.prepare("update threads set head = ? where head = ?").run(rewind.checkpoint_id, moved.head);
        db.close();
        return moved;
      },
    }),
  },
};
