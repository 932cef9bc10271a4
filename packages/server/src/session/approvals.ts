import { AppError, type Approval, type Decision, type Interrupt, type Scope, type Session } from "@cognition/contract";
import type { Storage, WaitingRun } from "@cognition/thread";

/** Where an approval stands among all that ever waited, also once it is answered: since when, whose, which of several. */
export type ApprovalPlace = readonly [waiting_since: string, run_id: string, index: number];

export interface PlacedApproval {
  readonly approval: Approval;
  readonly place: ApprovalPlace;
}

/** What waits for a human, over all sessions of the scope; oldest first. */
export async function listApprovals(
  storage: Pick<Storage, "listWaitingRuns">,
  session_id?: string,
  scope?: Scope,
): Promise<PlacedApproval[]> {
  const waiting = await storage.listWaitingRuns({ ...(scope && { scope }), ...(session_id && { session_id }) });
  return waiting.flatMap(toApprovals).sort((a, b) => comparePlaces(a.place, b.place));
}

export function comparePlaces(a: ApprovalPlace, b: ApprovalPlace): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  if (a[1] !== b[1]) return a[1] < b[1] ? -1 : 1;
  return a[2] - b[2];
}

function toApprovals({ run, interrupts, waiting_since }: WaitingRun): PlacedApproval[] {
  return interrupts.map((interrupt, index) => {
    const approval: Approval = {
      ...interrupt,
      session_id: run.session_id,
      run_id: run.id,
      agent_name: run.agent_name,
      status: "waiting",
      decision: null,
      created_at: waiting_since,
      answered_at: null,
    };
    return { approval, place: [waiting_since, run.id, index] };
  });
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
  const found = decisions.map((placed) => ({ placed, interrupt: findInterrupt(waiting, placed.decision) }));
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

export function findInterrupt(waiting: readonly Interrupt[], decision: Decision): Interrupt | undefined {
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
