import { definitions, files, folding, keys, memories, notes, outbox, spending } from "./other-steps.ts";
import {
  agentTalk,
  branch,
  clearing,
  copies,
  deletion,
  expiry,
  longTalk,
  pausedRuns,
  tidiedTalk,
  travel,
} from "./session-steps.ts";
import { chats, tasks } from "./state-steps.ts";
import type { Work } from "./work.ts";

/** Between them they call every method of the storage that writes; the suite checks that they do. */
export const steps: Readonly<Record<string, (work: Work) => Promise<void>>> = {
  longTalk,
  tidiedTalk,
  agentTalk,
  pausedRuns,
  branch,
  travel,
  copies,
  deletion,
  clearing,
  expiry,
  notes,
  files,
  memories,
  keys,
  outbox,
  folding,
  tasks,
  chats,
  definitions,
  spending,
};
