import { setTimeout as delay } from "node:timers/promises";
import { AppError, type Interrupt, type Message } from "@cognition/contract";
import { LEASE, type Storage } from "@cognition/thread";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command, isGraphDrained, RunControl } from "@langchain/langgraph";
import type { Executor, RunResult, RunWork } from "../run/executor.ts";
import { RunInput } from "../run/run-input.ts";
import { closeJournal } from "./close-journal.ts";
import { toInterrupt } from "./decide-call.ts";
import { customData } from "./graph-tool.ts";
import { createModelEvents, type ModelEvents } from "./model-events.ts";
import type { OpenedAgent } from "./opened-agent.ts";
import { inRun, type RunScope } from "./run-scope.ts";
import { settleThread } from "./settle-thread.ts";
import { createUsageMeter } from "./usage-meter.ts";

export interface GraphExecutorOptions {
  storage: Storage;
  /** The graph, the model and the sandbox that a run needs; the same ones for the same revision, model and session. */
  openAgent(work: RunWork, input: RunInput): Promise<OpenedAgent>;
}

/** How long a tool that was told to stop may take, before it is recorded as unknown. */
const STOPPING_MS = 2_000;
const RECURSION_LIMIT = 10_000;

interface Running {
  agent: OpenedAgent;
  scope: RunScope;
  events: ModelEvents;
}

/** Runs agents on threads, with LangGraph. */
export function createGraphExecutor({ storage, openAgent }: GraphExecutorOptions): Executor {
  const running = new WeakMap<RunWork, Running>();

  async function open(work: RunWork): Promise<Running & { input: RunInput }> {
    const input = parseInput(work);
    const known = running.get(work);
    if (known) return { ...known, input };
    const agent = await openAgent(work, input);
    const usage = createUsageMeter(work.claimed.run.usage);
    const { usageOf, root_agent, pipelined = false } = agent;
    work.lease.pipelined = pipelined;
    const one: Running = {
      agent,
      scope: { work, sandbox: agent.sandbox, usage, plan: [], begun: new Set(), calls: new Map() },
      events: createModelEvents({ work, root_agent, usage, usageOf }),
    };
    running.set(work, one);
    return { ...one, input };
  }

  return {
    execute: async (work) => {
      const { input, ...one } = await open(work);
      return inRun(one.scope, () => execute(storage, one, input));
    },
    settle: async (work) => {
      const one = await open(work);
      const usage = one.scope.usage.total();
      await inRun(one.scope, () => settle(storage, one, one.input));
      await work.log.flush();
      return { assistant: await lastAssistant(storage, work), usage };
    },
  };
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
  const { work } = scope;
  const control = new RunControl();
  const drain = () => control.requestDrain();
  work.drain.addEventListener("abort", drain);
  try {
    const config = { ...configFor(one), control };
    // Nothing of a new message can be in the thread before the run's first attempt.
    const isNew = input.kind === "message" && work.claimed.run.attempt <= 1;
    const state: GraphState = isNew ? { values: {}, tasks: [] } : await agent.graph.getState(config);
    const stream = await agent.graph.stream(graphInput(input, state), { ...config, streamMode: ["custom"] });
    for await (const [, data] of stream as AsyncIterable<[string, unknown]>) work.log.emit("custom", customData(data));
    return await resultOf(storage, one, config);
  } catch (error) {
    if (isGraphDrained(error)) return { outcome: "drained" };
    throw error;
  } finally {
    work.drain.removeEventListener("abort", drain);
  }
}

function configFor({ scope, events, agent }: Running) {
  const { work } = scope;
  const { thread_id, run_id } = work.claimed;
  return {
    configurable: { thread_id, [LEASE]: work.lease },
    callbacks: [events.handler],
    durability: "sync" as const,
    metadata: { run_id },
    recursionLimit: agent.recursion_limit ?? RECURSION_LIMIT,
    signal: work.signal,
  };
}

interface GraphState {
  values: { messages?: BaseMessage[]; structuredResponse?: unknown };
  tasks: readonly { interrupts?: readonly { id?: string; value?: unknown }[] }[];
}

/** What the graph is given: news only once. After a crash its checkpoint holds them, and it goes on by itself. */
function graphInput(input: RunInput, { values, tasks }: GraphState): Record<string, unknown> | Command | null {
  if (input.kind === "continue") return null;
  if (input.kind === "answers") {
    const waiting = new Set(tasks.flatMap((task) => (task.interrupts ?? []).map(({ id }) => id)));
    const open = Object.entries(input.answers).filter(([id]) => waiting.has(id));
    return open.length > 0 ? new Command({ resume: Object.fromEntries(open) }) : null;
  }
  if (values.messages?.some(({ id }) => id === input.message_id)) return null;
  return { ...input.input, messages: [userMessage(input)] };
}

function userMessage({ message_id, content }: Extract<RunInput, { kind: "message" }>): HumanMessage {
  return new HumanMessage({ id: message_id, content: content as string });
}

async function resultOf(storage: Storage, { agent, scope }: Running, config: object): Promise<RunResult> {
  const state = (await agent.graph.getState(config)) as GraphState;
  const interrupts: Interrupt[] = state.tasks.flatMap((task) =>
    (task.interrupts ?? []).map(({ id = "", value }) => toInterrupt(id, value)),
  );
  if (interrupts.length > 0) return { outcome: "waiting", interrupts };
  const { structuredResponse } = state.values;
  return {
    outcome: "succeeded",
    assistant: await lastAssistant(storage, scope.work),
    usage: scope.usage.total(),
    ...(structuredResponse === undefined ? {} : { structured_response: structuredResponse }),
  };
}

/** The run's last word, as the message rows have it. */
async function lastAssistant(storage: Storage, { session, claimed }: RunWork): Promise<Message | null> {
  const { messages } = await storage.getMessagesBySession(session.id, { limit: 1, role: "assistant" });
  const [message] = messages;
  return message && message.run_id === claimed.run_id ? message : null;
}

async function settle(storage: Storage, one: Running, input: RunInput): Promise<void> {
  const { scope, agent, events } = one;
  await Promise.race([Promise.allSettled(scope.calls.values()), delay(STOPPING_MS, undefined, { ref: false })]);
  const calls = await closeJournal(storage, scope);
  const { signal: _, ...config } = configFor(one);
  const message = input.kind === "message" ? userMessage(input) : undefined;
  await settleThread(agent.graph, config, { input: message, unfinished: events.unfinished(), calls });
}
