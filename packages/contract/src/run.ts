import { z } from "zod";
import { ErrorInfo } from "./error.ts";
import { pageInfo, paging } from "./page.ts";
import { Timestamp } from "./time.ts";
import { TokenUsage } from "./token-usage.ts";

export const RunStatus = z.enum(["queued", "running", "waiting_for_approval", "succeeded", "failed", "aborted"]);
export type RunStatus = z.infer<typeof RunStatus>;

/** How a run ends. An ended run never continues: resuming makes a new one. */
export const RunOutcome = RunStatus.extract(["succeeded", "failed", "aborted"]);
export type RunOutcome = z.infer<typeof RunOutcome>;

export function isRunOutcome(status: RunStatus): status is RunOutcome {
  return status === "succeeded" || status === "failed" || status === "aborted";
}

/** `resumes` is the ended run that this one continues. `agent_revision` stays what it was when the run began. */
export const Run = z.strictObject({
  id: z.string(),
  session_id: z.string(),
  status: RunStatus,
  attempt: z.int().nonnegative(),
  resumes: z.string().nullable(),
  agent_name: z.string(),
  agent_revision: z.string().nullable(),
  model: z.string().nullable(),
  usage: TokenUsage.nullable(),
  error: ErrorInfo.nullable(),
  trace_id: z.string().nullable(),
  checkpoint_id: z.string().nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
});
export type Run = z.infer<typeof Run>;

export const ListRuns = z.strictObject({ ...paging, status: RunStatus.optional() });
export type ListRuns = z.infer<typeof ListRuns>;

export const RunPage = z.strictObject({ runs: z.array(Run), ...pageInfo });
export type RunPage = z.infer<typeof RunPage>;
