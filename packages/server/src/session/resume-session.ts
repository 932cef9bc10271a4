import {
  AppError,
  DEFAULT_PAGE_LIMIT,
  type Decision,
  decisionsOf,
  isAppError,
  isRunOutcome,
  type ResumeSession,
  type Run,
  type Session,
} from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import type { ModelRegistry } from "../model/model-registry.ts";
import type { RunEngine } from "../run/run-engine.ts";
import { RunInput } from "../run/run-input.ts";
import { findCutAnswer } from "../timeline/cut-answer.ts";
import { findEntry, findHead } from "../timeline/find-place.ts";
import { answersFor, findInterrupt, nothingWaits, type PlacedDecision } from "./approvals.ts";
import { refuseCommands } from "./refuse-commands.ts";

export interface ResumeOptions {
  readonly storage: Pick<
    Storage,
    "listWaitingRuns" | "listRuns" | "getRun" | "getRunInput" | "getMessagesBySession" | "readEvents" | "timeline"
  >;
  readonly engine: Pick<RunEngine, "answer" | "submit">;
  readonly agents: Pick<AgentRegistry, "at" | "findForSession">;
  readonly models: Pick<ModelRegistry, "select">;
}

/**
 * Answers what waits, or goes on where the last run failed or was aborted, as a new run that names it. With an id that is
 * the new run's: one that has it already is the one that this request began before.
 */
export async function resumeSession(
  options: ResumeOptions,
  session: Session,
  body: ResumeSession,
  run_id?: string,
): Promise<Run> {
  const decisions = placeDecisions(body);
  return decisions.length > 0 ? answer(options, session, decisions) : goOn(options, session, run_id);
}

function placeDecisions(body: ResumeSession): PlacedDecision[] {
  const list = body.decisions !== undefined;
  return decisionsOf(body).map((decision, index) => {
    const field = decision.id === undefined ? "tool_call_id" : "id";
    const at = list ? ["decisions", index] : [];
    for (const given of ["value", "args"] as const) refuseCommands(decision[given], [...at, given]);
    return { decision, loc: [...at, field], tool_name: body.tool_name };
  });
}

async function answer(
  { storage, engine }: ResumeOptions,
  session: Session,
  decisions: readonly PlacedDecision[],
): Promise<Run> {
  const [waiting] = await storage.listWaitingRuns({ session_id: session.id });
  const allWait = decisions.every(({ decision }) => waiting && findInterrupt(waiting.interrupts, decision));
  const answered = allWait ? new Set<string>() : await answeredBefore(storage, session);
  if (!waiting) {
    if (decisions.every(({ decision }) => answered.has(decision.id ?? decision.tool_call_id ?? ""))) {
      throw new AppError("already_answered", `What waited in session ${session.id} was answered already`);
    }
    throw nothingWaits(session);
  }
  const answers = answersFor(waiting.interrupts, answered, decisions);
  const { id, attempt } = waiting.run;
  return engine.answer(id, (before: unknown) => answersInput(before, answers), attempt);
}

/** The model that the message asked for stays the one that answers it. */
function answersInput(before: unknown, answers: Record<string, Decision>): RunInput {
  const { model } = before as { model?: string };
  return { kind: "answers", answers, ...(model === undefined ? {} : { model }) };
}

/** Whoever asks again whether his answer came was cut off a moment ago: so many runs may have begun since. */
const RUNS_SINCE = 10;

/** Ids of everything that the session's last runs have asked and gone on after, by either name. */
async function answeredBefore(storage: ResumeOptions["storage"], { id }: Session): Promise<ReadonlySet<string>> {
  const runs = await storage.listRuns(id, { limit: RUNS_SINCE });
  const answered = await Promise.all(runs.map((run) => answeredIn(storage, run)));
  return new Set(answered.flat());
}

async function answeredIn({ readEvents }: ResumeOptions["storage"], { id: run_id, session_id, status }: Run) {
  const { events } = await readEvents({ session_id, run_id, types: ["interrupt", "status"], limit: 1000 });
  // One that is open and waits for nobody has been answered, though no node may have said so yet. What one was stopped at was
  // never answered: it only came to rest then.
  const isAnswered = status === "queued" || status === "running";
  const wentOn = events.findLastIndex(({ event, data }) => event === "status" && data.status !== "idle");
  const asked = events
    .slice(0, isAnswered ? events.length : Math.max(wentOn, 0))
    .flatMap(({ event, data }) => (event === "interrupt" ? data.interrupts : []));
  return asked.flatMap((each) => [each.id, each.tool_call_id ?? each.id]);
}

async function goOn(options: ResumeOptions, session: Session, id?: string): Promise<Run> {
  const { storage, engine } = options;
  const begun = id === undefined ? undefined : await findRun(storage, id);
  if (begun) return begun;
  const [last] = await storage.listRuns(session.id, { limit: 1 });
  if (last && !isRunOutcome(last.status)) throw stillOpen(session, last);
  // One that was admitted by another program than this server may have any.
  const before = last && RunInput.safeParse(await storage.getRunInput(last.id)).data;
  const unheard = last && before && (await isUnheard(storage, session, last, before));
  if (!unheard && !(await hasMoreToDo(storage, session, last))) {
    const message = `Session ${session.id} stands at an end, with no failed or aborted run to continue; send a message instead`;
    throw new AppError("nothing_to_resume", message);
  }
  const model = before?.model;
  const goingOn: RunInput = { kind: "continue", ...(model !== undefined && { model }) };
  const { run } = await engine.submit({
    ...(id !== undefined && { id }),
    session_id: session.id,
    ...(last && (await partsOf(options, session, last, model))),
    input: unheard ? before : goingOn,
    on_busy: "reject",
  });
  return run;
}

/**
 * Of the run that it goes on from, but for what the session says of its model: who has changed that since, as after a failure of
 * the provider, means the run that goes on too. Only a model that the message itself named stays.
 */
async function partsOf({ agents, models }: ResumeOptions, session: Session, last: Run, model: string | undefined) {
  const { agent_name, agent_revision } = last;
  const { scopes: scope, config } = session;
  const agent = agent_revision ? agents.at(agent_revision) : agents.findForSession(agent_name, scope);
  const { definition } = await agent;
  const selection = await models.select({
    ...(model !== undefined && { message: { model } }),
    session: config,
    agent: { ...definition.config, model: definition.model },
    scope,
  });
  return { agent_name, agent_revision, model: selection.model, resumes: last.id };
}

/**
 * Whether no checkpoint has the message, so that there is none to go on from: its run was aborted while it waited its turn, or
 * failed before its first step, as where its agent could not be opened.
 */
async function isUnheard(
  storage: ResumeOptions["storage"],
  session: Session,
  run: Run,
  input: RunInput,
): Promise<boolean> {
  if (input.kind !== "message" || run.status === "succeeded") return false;
  const left = run.checkpoint_id === null ? undefined : await findEntry(storage, session, run.checkpoint_id);
  if (left?.run_id === run.id) return false; // of a graph that has no messages, no checkpoint ever has it
  const { messages } = await storage.getMessagesBySession(session.id, { role: "user", limit: DEFAULT_PAGE_LIMIT });
  return messages.some((message) => message.id === input.message_id && message.checkpoint_id === null);
}

async function findRun(storage: ResumeOptions["storage"], id: string): Promise<Run | undefined> {
  return storage.getRun(id).catch((error: unknown) => {
    if (!isAppError(error, "run_not_found")) throw error;
    return undefined;
  });
}

/**
 * After a rewind to the middle of a run, that run's next step comes next again. A run that failed goes on where its graph
 * stopped: of that a user's own graph alone knows what comes next; one that was stopped in its answer gives that anew. But not
 * where it was rewound to an end. A fork that has had no run yet goes on in the middle of the one that it comes from.
 */
async function hasMoreToDo(
  storage: ResumeOptions["storage"],
  session: Session,
  last: Run | undefined,
): Promise<boolean> {
  const head = await findHead(storage, session);
  if (!head) return false;
  const { source, next } = head;
  if (!last) return next.length > 0;
  if (last.status === "succeeded") return source === "fork" && next.length > 0;
  if (next.length > 0 || source === "loop" || source === "input") return true;
  return (await findCutAnswer(storage, session, last.id)) !== undefined;
}

function stillOpen({ id }: Session, run: Run): AppError {
  const details = { run_id: run.id };
  if (run.status === "waiting_for_approval") {
    const message = `Run ${run.id} of session ${id} waits for decisions; send them, or abort it`;
    return new AppError("waiting_for_approval", message, { details });
  }
  return new AppError("session_busy", `Run ${run.id} of session ${id} is ${run.status}; there is nothing to resume`, {
    details,
  });
}
