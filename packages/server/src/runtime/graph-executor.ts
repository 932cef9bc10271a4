import { setTimeout as delay } from "node:timers/promises";
import { AppError, isAppError, type TokenUsage } from "@cognition/contract";
import { LEASE, type Storage } from "@cognition/thread";
import type { BaseMessage } from "@langchain/core/messages";
import { isGraphDrained, isInterrupted, RunControl } from "@langchain/langgraph";
import type { Budgets } from "../budget/budgets.ts";
import type { RunBudget } from "../budget/run-budget.ts";
import type { Executor, RunResult, RunWork } from "../run/executor.ts";
import { lastUsage } from "../run/last-usage.ts";
import { NOT_THE_RUNS } from "../run/not-the-runs.ts";
import { RunInput } from "../run/run-input.ts";
import type { Workspaces } from "../timeline/workspace/workspaces.ts";
import { branchAtParent, branchBeforeCutAnswer } from "./branch-at-parent.ts";
import { createBudgetHooks } from "./budget-hooks.ts";
import { causeOf } from "./cause-of.ts";
import { closeJournal } from "./close-journal.ts";
import { readEarlierCalls, tellTakenBack } from "./earlier-calls.ts";
import { configurableOf, graphContext, graphInput, userMessage } from "./graph-input.ts";
import { graphResult } from "./graph-result.ts";
import { createInStep } from "./in-step.ts";
import { leftResults } from "./left-results.ts";
import { createModelEvents, type ModelEvents } from "./model-events.ts";
import { createNodeFiles } from "./node-files.ts";
import { type Asked, openQuestions } from "./open-questions.ts";
import type { OpenedAgent } from "./opened-agent.ts";
import { RunCallbacks } from "./run-callbacks.ts";
import { type GraphState, NO_STATE } from "./run-graph.ts";
import { emptyScope, inRun, type RunScope } from "./run-scope.ts";
import { leftOpen, settleCustomGraph } from "./settle-custom-graph.ts";
import { settleThread } from "./settle-thread.ts";
import { createStreamWriter } from "./stream-writer.ts";
import { createToolEvents } from "./tool-events.ts";
import { isTraced, NoTracer } from "./untraced.ts";
import { createUsageMeter } from "./usage-meter.ts";

export interface GraphExecutorOptions {
  storage: Storage;
  /**
   * The graph, the model and the sandbox that a run needs; the same ones for the same revision, model and session. To `settle`,
   * which uses no tool, it waits for nobody who has tools, and for no drain: the run ends here.
   */
  openAgent(work: RunWork, input: RunInput, purpose: "execute" | "settle"): Promise<OpenedAgent>;
  workspaces: Pick<Workspaces, "begin">;
  budgets: Pick<Budgets, "open">;
}

/** How long a tool that was told to stop may take, before it is recorded as unknown. */
const STOPPING_MS = 2_000;

/** What a graph gave last, and whether it stopped to ask for something. */
interface Driven {
  output: unknown;
  asks: boolean;
}

interface Running {
  agent: OpenedAgent;
  /** Among its callbacks. None for a graph of a user's own: that may be of a LangChain that asks tracers for other things. */
  tracers: readonly NoTracer[];
  scope: RunScope;
  events: ModelEvents;
  /** Stops what still runs beside what has failed: LangGraph lets go of it, and of a subagent without telling it. */
  failed: AbortController;
}

/** Runs agents on threads, with LangGraph. */
export function createGraphExecutor({ storage, openAgent, workspaces, budgets }: GraphExecutorOptions): Executor {
  const running = new WeakMap<RunWork, Running>();
  const inStep = createInStep();
  const tracers = isTraced() ? [] : [new NoTracer()];

  async function open(work: RunWork, purpose: "execute" | "settle"): Promise<Running & { input: RunInput }> {
    const input = parseInput(work);
    const known = running.get(work);
    if (known) return { ...known, input };
    const agent = await openAgent(work, input, purpose);
    const usage = createUsageMeter(await usedBefore(storage, work));
    const budget = budgets.open(work.claimed.run, work.claimed.session);
    if (work.claimed.run.attempt > 1) await budget.giveBack();
    const { usageOf, root_agent, sandbox, context, pipelined = false } = agent;
    const { mode } = work.claimed.session;
    work.lease.pipelined = pipelined;
    const workspace = await workspaces.begin(work.claimed.session, work.lease);
    work.lease.snapshot = () => workspace.ofStep;
    const failed = new AbortController();
    // Whatever stops the run for its budget, or for a failure, stops its tools and its models, as an abort would.
    const bounded = { ...work, signal: AbortSignal.any([work.signal, budget.signal, failed.signal]) };
    const one: Running = {
      failed,
      agent,
      tracers: agent.custom ? [] : tracers,
      scope: {
        work: bounded,
        budget,
        sandbox,
        workspace,
        usage,
        root_agent,
        mode,
        journal: storage,
        leftResults: (caller) => leftResults(storage, work, caller),
        ...context,
        ...emptyScope(),
        earlier: await readEarlierCalls(storage, work),
      },
      events: createModelEvents({ work, root_agent, usage, usageOf }),
    };
    const { takeEvents } = work.lease;
    if (takeEvents)
      work.lease.takeEvents = (step) => {
        tellTakenBack(one.scope);
        return takeEvents(step);
      };
    running.set(work, one);
    return { ...one, input };
  }

  return {
    execute: async (work) => {
      const { input, ...one } = await open(work, "execute");
      await inStep();
      return withinBudget(one.scope.budget, () => inRun(one.scope, () => execute(storage, one, input)));
    },
    settle: async (work) => {
      const one = await open(work, "settle").catch((error) => closeUnopened(storage, work, error));
      await inRun(one.scope, () => settle(storage, one, one.input));
      await work.log.flush();
      return { usage: one.scope.usage.total() };
    },
  };
}

/** A limit that was reached is why the run failed, whatever the graph made of being stopped. */
async function withinBudget(budget: RunBudget, work: () => Promise<RunResult>): Promise<RunResult> {
  await budget.begin();
  try {
    const result = await work();
    if (budget.stopped) throw budget.stopped;
    return result;
  } catch (error) {
    throw budget.stopped ?? error;
  } finally {
    await budget.end();
  }
}

/** After a crash the log knows; otherwise the run's row, which has what was used before an approval. */
async function usedBefore(storage: Storage, { claimed }: RunWork): Promise<TokenUsage | null> {
  const { attempt, usage } = claimed.run;
  return attempt > 1 ? ((await lastUsage(storage, claimed)) ?? usage) : usage;
}

/** Of a run whose agent can't be opened any more the calls of earlier attempts have their end all the same. */
async function closeUnopened(storage: Storage, work: RunWork, error: unknown): Promise<never> {
  if (!isAppError(error, ...NOT_THE_RUNS)) await closeJournal(storage, { work, ...emptyScope() });
  throw error;
}

function parseInput({ claimed }: RunWork): RunInput {
  const { success, data, error } = RunInput.safeParse(claimed.input);
  if (success) return data;
  throw new AppError("corrupt_data", `The input of run ${claimed.run_id} is not readable: ${error.message}`, {
    cause: error,
  });
}

async function execute(storage: Storage, one: Running, input: RunInput): Promise<RunResult> {
  const { scope, agent } = one;
  const { work, usage } = scope;
  const { graph, custom } = agent;
  const control = new RunControl();
  const drain = () => control.requestDrain();
  work.drain.addEventListener("abort", drain);
  if (work.drain.aborted) drain(); // while the agent was being opened
  try {
    const config = { ...configFor(one), control };
    await branchAtParent(storage, work, input);
    if (input.kind === "continue") await branchBeforeCutAnswer(storage, work);
    // Nothing of a new message can be in the thread before the run's first attempt.
    const isNew = input.kind === "message" && work.claimed.run.attempt <= 1;
    const state = isNew ? NO_STATE : await graph.getState(config);
    const { questions } = await askedIn(storage, one, config, state);
    const left = input.kind === "message" ? await leftOpen(custom, config, scope) : [];
    const given = graphInput(input, work.claimed.run, state, questions, { ...agent, left });
    const context = graphContext(input, state);
    if (custom) work.lease.metadata = { run_id: work.claimed.run_id, ...(context ? { context } : {}) };
    const { output, asks } = await drive(one, given, withContext(config, context));
    // What asked for nothing has come to its end: its last values are where it stands.
    const ended = !asks && (custom?.tellsPauses ?? true);
    const after = ended ? { ...NO_STATE, values: output as GraphState["values"] } : await graph.getState(config);
    tellTakenBack(scope); // what stands beside a question is told before it
    return graphResult({ usage, custom, output, state: after, asked: await askedIn(storage, one, config, after) });
  } catch (error) {
    if (isGraphDrained(error)) return { outcome: "drained" };
    const cause = causeOf(error);
    one.failed.abort(cause);
    throw cause;
  } finally {
    work.drain.removeEventListener("abort", drain);
  }
}

/** Of an agent of ours no subgraph asks a second time in the same place; of a user's own one may. */
async function askedIn(storage: Storage, { agent, scope }: Running, config: object, state: GraphState): Promise<Asked> {
  const { graph, custom } = agent;
  const asks = state.tasks.some(({ interrupts = [] }) => interrupts.length > 0);
  const whole = asks && custom ? await graph.getState(config, { subgraphs: true }) : state;
  return openQuestions(await storage.getCheckpointer(), scope.work.claimed.thread_id, whole);
}

/** Runs the graph until it stops. What it writes to its stream is told as it is written, not as somebody reads it. */
async function drive({ agent, scope }: Running, given: unknown, config: object): Promise<Driven> {
  const writer = createStreamWriter(scope);
  // Of an agent of ours only the conversation is looked at; reading every channel at every step took longer than some steps.
  const outputKeys = agent.custom ? {} : { outputKeys: ["messages"] };
  const stream = await agent.graph.stream(given, { ...config, ...outputKeys, writer, streamMode: "values" });
  const driven: Driven = { output: {}, asks: false };
  for await (const chunk of stream) {
    driven.output = chunk;
    driven.asks ||= isInterrupted(chunk);
  }
  return driven;
}

function configFor({ scope, events, agent, tracers }: Running) {
  const { work, budget } = scope;
  const callbacks = new RunCallbacks({
    models: [events.hooks, createBudgetHooks(budget, agent.usageOf)],
    ...(agent.custom ? { tools: createToolEvents(scope), chains: createNodeFiles(scope) } : {}),
  });
  const { thread_id, run_id } = work.claimed;
  return {
    ...agent.config,
    configurable: { thread_id, [LEASE]: work.lease },
    callbacks: [callbacks, ...tracers],
    durability: "sync" as const,
    metadata: { run_id },
    signal: work.signal,
  };
}

function withContext(config: ReturnType<typeof configFor>, context: Record<string, unknown> | undefined): object {
  if (!context) return config;
  return { ...config, context, configurable: { ...configurableOf(context), ...config.configurable } };
}

/** At its own place: what could not branch there is not said at the end of another branch. */
async function inputToKeep(storage: Storage, work: RunWork, input: RunInput): Promise<BaseMessage | undefined> {
  if (input.kind !== "message") return undefined;
  try {
    await branchAtParent(storage, work, input);
    return userMessage(input);
  } catch (error) {
    if (!isAppError(error, "checkpoint_not_found")) throw error; // why the run failed, if it came so far
    return undefined;
  }
}

async function settle(storage: Storage, one: Running, input: RunInput): Promise<void> {
  const { scope, agent, events } = one;
  await Promise.race([Promise.allSettled(scope.calls.values()), delay(STOPPING_MS, undefined, { ref: false })]);
  // What a tool that was stopped has left behind is part of where the files stand.
  if (scope.begun.size > 0) await scope.workspace.after();
  const calls = await closeJournal(storage, scope, agent.custom !== undefined);
  const { signal: _, ...config } = configFor(one);
  const message = await inputToKeep(storage, scope.work, input);
  const unfinished = events.unfinished();
  if (agent.custom) {
    // What a node has heard to its end it may have put anywhere, or nowhere.
    const interrupted = unfinished?.ended ? undefined : unfinished;
    await settleCustomGraph(agent.custom, config, { input: message, unfinished: interrupted, calls });
  } else await settleThread(agent.graph, config, { input: message, unfinished, calls });
}
