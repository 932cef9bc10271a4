import {
  AppError,
  type Approval,
  type ApprovalPage,
  type Decision,
  type Interrupt,
  type ListApprovals,
  type Scope,
  type Session,
} from "@cognition/contract";
import type { Storage, WaitingRun } from "@cognition/thread";

/** What waits for a human, over all sessions of the scope; oldest first. */
export async function listApprovals(
  storage: Pick<Storage, "listWaitingRuns">,
  { session_id, limit, offset }: ListApprovals,
  scope?: Scope,
): Promise<ApprovalPage> {
  const waiting = await storage.listWaitingRuns({ ...(scope && { scope }), ...(session_id && { session_id }) });
  const approvals = waiting.flatMap(toApprovals);
  const page = approvals.slice(offset, offset + limit);
  return { approvals: page, total: approvals.length, has_more: offset + page.length < approvals.length };
}

function toApprovals({ run, interrupts, waiting_since }: WaitingRun): Approval[] {
  return interrupts.map((interrupt) => ({
    ...interrupt,
    session_id: run.session_id,
    run_id: run.id,
    agent_name: run.agent_name,
    status: "waiting",
    decision: null,
    created_at: waiting_since,
    answered_at: null,
  }));
}

/** A decision, and where in the body it stands, for the error about it. */
export interface PlacedDecision {
  readonly decision: Decision;
  readonly loc: readonly (string | number)[];
  readonly tool_name?: string | undefined;
}

/**
 * The answers by interrupt id, each checked against what waits; all of them, or an error and none. Which of several wrong
 * things is told: what is not known, then what was answered before, then what is not allowed.
 */
export function answersFor(
  waiting: readonly Interrupt[],
  answered: ReadonlySet<string>,
  decisions: readonly PlacedDecision[],
): Record<string, Decision> {
  const found = decisions.map((placed) => ({ placed, interrupt: findInterrupt(waiting, placed) }));
  const missing = found.filter(({ interrupt }) => !interrupt).map(({ placed }) => placed);
  const unknown = missing.filter(({ decision }) => !answered.has(nameOf(decision)));
  if (unknown.length > 0) throw invalid(unknown, `is not among what waits: ${waiting.map(({ id }) => id).join(", ")}`);
  if (missing.length > 0) {
    const names = missing.map(({ decision }) => nameOf(decision)).join(", ");
    throw new AppError("already_answered", `Answered already: ${names}. Nothing of this request was kept.`);
  }
  const answers = new Map<string, Decision>();
  for (const { placed, interrupt } of found) {
    if (!interrupt) continue;
    if (answers.has(interrupt.id)) throw invalid([placed], "is answered twice in one request");
    checkAllowed(placed, interrupt);
    answers.set(interrupt.id, placed.decision);
  }
  return Object.fromEntries(answers);
}

function findInterrupt(waiting: readonly Interrupt[], { decision }: PlacedDecision): Interrupt | undefined {
  return waiting.find(({ id, tool_call_id }) =>
    decision.id === undefined ? tool_call_id === decision.tool_call_id : id === decision.id,
  );
}

function checkAllowed(placed: PlacedDecision, { id, tool_name, allowed_decisions }: Interrupt): void {
  const { decision } = placed;
  if (placed.tool_name !== undefined && placed.tool_name !== tool_name) {
    throw invalid([{ ...placed, loc: ["tool_name"] }], `is not the tool that waits, which is ${tool_name}`);
  }
  if (allowed_decisions.includes(decision.type)) return;
  const message = `${decision.type} is not allowed for ${tool_name ?? id}; allowed: ${allowed_decisions.join(", ")}. Nothing was answered.`;
  throw new AppError("decision_not_allowed", message, { details: { id, allowed_decisions } });
}

function nameOf({ id, tool_call_id }: Decision): string {
  return id ?? tool_call_id ?? "";
}

function invalid(placed: readonly PlacedDecision[], msg: string): AppError {
  const errors = placed.map(({ loc }) => ({ loc: ["body", ...loc], msg }));
  const summary = placed.map(({ decision }) => `${nameOf(decision)} ${msg}`).join("; ");
  return new AppError("validation_failed", `${summary}. Nothing was answered.`, { details: { errors } });
}

export function nothingWaits({ id }: Session): AppError {
  return new AppError("nothing_waiting", `Nothing in session ${id} waits for a decision; none was kept`);
}
