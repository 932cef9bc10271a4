import { AsyncLocalStorage } from "node:async_hooks";
import { AppError, type PlanItem, type Session } from "@cognition/contract";
import type { OpenTask, ToolJournal } from "@cognition/thread";
import type { BaseMessage } from "@langchain/core/messages";
import type { RunBudget } from "../budget/run-budget.ts";
import type { RunWork } from "../run/executor.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { RunWorkspace } from "../timeline/workspace/run-workspace.ts";
import type { EarlierCalls } from "./earlier-calls.ts";
import type { CloseCall } from "./left-results.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** What belongs to the run that the code at hand works for. Graphs are built once and serve many runs. */
export interface RunScope {
  work: RunWork;
  sandbox: Sandbox;
  budget: RunBudget;
  /** Where the files stand, step by step. */
  workspace: RunWorkspace;
  usage: UsageMeter;
  /** The session's own agent: events of the others carry their name. */
  root_agent: string;
  journal: ToolJournal;
  /** What became of the calls of a message that an earlier run has left without a result. */
  leftResults(caller: BaseMessage): Promise<CloseCall>;
  /** The session's, until a plan is approved. */
  mode: Session["mode"];
  /** What the prompt says of the user; empty if nothing. */
  about_user: string;
  task: OpenTask | null;
  /** Plans as they were told last, by the namespace of the agent that has made it: several may plan at once. */
  plans: Map<string, readonly PlanItem[]>;
  /** Tool calls that this attempt has begun. What an earlier one left begun, nobody knows the end of. */
  begun: Map<string, CallScope>;
  /** Intents that are on their way to the storage. */
  beginning: Set<Promise<unknown>>;
  /** Those of them that are under way, until the tool's own promise has settled. */
  calls: Map<string, Promise<void>>;
  /** Tools that a user's own graph calls by itself and that are under way, by LangChain's name for it. */
  unfollowed: Map<string, Unfollowed>;
  earlier: EarlierCalls;
  /** How often a node has called a tool with these arguments, where the call has no id. */
  unnamed: Map<string, number>;
  /** Those of them that have thrown, by their names. */
  thrown: Set<string>;
  /** How many answers that do not fit the agent's form are an earlier run's, by the id of what was asked. */
  unfit: Map<string, number>;
  /** Messages too long for a model, and the files that hold them. */
  long_messages: Map<object, string>;
  /** Every call has its outcome and the run is about to end: a tool that ends now is not heard any more. */
  closed: boolean;
}

/** What has nothing to do with who runs it and where. */
export function emptyScope(): Pick<
  RunScope,
  | "plans"
  | "begun"
  | "beginning"
  | "calls"
  | "unfollowed"
  | "earlier"
  | "unnamed"
  | "thrown"
  | "unfit"
  | "long_messages"
  | "closed"
> {
  return {
    plans: new Map(),
    begun: new Map(),
    beginning: new Set(),
    calls: new Map(),
    unfollowed: new Map(),
    earlier: { open: [], taken_back: [] },
    unnamed: new Map(),
    thrown: new Set(),
    unfit: new Map(),
    long_messages: new Map(),
    closed: false,
  };
}

/** One tool call: what the sandbox and our own tools tell about it while it runs. */
export interface CallScope {
  tool_call_id: string;
  idempotency_key: string;
  agent_name: string;
  /** What its events carry: the agent, unless it is the session's own. */
  about: { agent?: string };
  exit_code: number | null;
  /** Its last file operation or command was refused or failed, which a tool of deepagents' only says in its text. */
  failed?: boolean;
  /** How many commands it has run. */
  commands?: number;
  /** A LangChain tool of a user's: whether it has stopped when its call was given up, nobody can see. */
  opaque: boolean;
  /** The tool's own promise, which goes on when the call was given up. */
  own?: Promise<unknown>;
  /** What it came to, as text, if it ended well. */
  late?: string;
}

/** A tool whose own promise nobody has. */
export interface Unfollowed {
  id: string;
  about: { agent?: string };
  /** Its call has come to an end, or was given up. */
  over(): void;
}

export function callName({ checkpoint_ns, tool_call_id }: { checkpoint_ns: string; tool_call_id: string }): string {
  return `${checkpoint_ns} ${tool_call_id}`;
}

const runs = new AsyncLocalStorage<RunScope>();
const calls = new AsyncLocalStorage<CallScope>();

export function inRun<T>(scope: RunScope, work: () => Promise<T>): Promise<T> {
  return runs.run(scope, work);
}

export function inCall<T>(scope: CallScope, work: () => Promise<T>): Promise<T> {
  return calls.run(scope, work);
}

export function findRun(): RunScope | undefined {
  return runs.getStore();
}

export function currentRun(): RunScope {
  const scope = findRun();
  if (!scope) throw new AppError("internal", "This only works inside of a run");
  return scope;
}

export function currentCall(): CallScope | undefined {
  return calls.getStore();
}

/** Has the journal follow the work itself: a tool that does not heed the signal goes on after its call was given up. */
export function follow<T>(own: Promise<T>, describe: (value: T) => string): Promise<T> {
  const call = currentCall();
  if (!call) return own;
  const watched = own.then((value) => {
    call.late = describe(value);
  });
  // A call may do several things, one after another: the last one counts.
  call.own = watched.catch(() => {
    delete call.late; // whoever called it is told
  });
  return own;
}
