import { first } from "./0001-first.ts";
import { tasksAndChats } from "./0002-tasks-and-chats.ts";
import { runIndexes } from "./0003-run-indexes.ts";
import { snapshots } from "./0004-snapshots.ts";
import { access } from "./0005-access.ts";
import { agentsProvidersBudgets } from "./0006-agents-providers-budgets.ts";
import { rowLevelSecurity } from "./0007-row-level-security.ts";
import { completionsAndBreakers } from "./0008-completions-and-breakers.ts";
import { memoryTimesAndPackThreads } from "./0009-memory-times-and-pack-threads.ts";
import { moreIndexes } from "./0010-more-indexes.ts";
import { artifactsOfNoSession } from "./0011-artifacts-of-no-session.ts";
import { queuedRuns } from "./0012-queued-runs.ts";
import { narrowReads } from "./0013-narrow-reads.ts";
import { ownParents } from "./0014-own-parents.ts";
import { deletedSessions } from "./0015-deleted-sessions.ts";
import { reservingRuns } from "./0016-reserving-runs.ts";
import { doneDeliveries } from "./0017-done-deliveries.ts";
import { taskPaths } from "./0018-task-paths.ts";
import type { Migration } from "./migration.ts";

export const migrations: readonly Migration[] = [
  first,
  tasksAndChats,
  runIndexes,
  snapshots,
  access,
  agentsProvidersBudgets,
  rowLevelSecurity,
  completionsAndBreakers,
  memoryTimesAndPackThreads,
  moreIndexes,
  artifactsOfNoSession,
  queuedRuns,
  narrowReads,
  ownParents,
  deletedSessions,
  reservingRuns,
  doneDeliveries,
  taskPaths,
];
