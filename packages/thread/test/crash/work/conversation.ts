import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { ClaimedRun } from "../../../src/run-store.ts";
import { callTool } from "./journal.ts";
import type { RunLog } from "./run-log.ts";
import type { Work } from "./work.ts";

/** What the nodes of one run work with; it reaches them by the config, and is never stored. */
export interface Scene {
  work: Work;
  claimed: ClaimedRun;
  log: RunLog;
}

export const SCENE = "__scene";

/** The inner graph gives back all that it was given and more: unbounded, a long talk's notes would double at every run. */
const NOTES_KEPT = 300;

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({
    reducer: (all, more) => [...all, ...more].slice(-NOTES_KEPT),
    default: () => [],
  }),
  facts: Annotation<Record<string, unknown>>,
});

type Config = LangGraphRunnableConfig;

function sceneOf(config: Config): Scene {
  return config.configurable?.[SCENE] as Scene;
}

function say(config: Config, name: string): { messages: AIMessage[] } {
  const { claimed, log } = sceneOf(config);
  const id = `${claimed.run_id}:${name}`;
  log.token(id);
  log.token(id);
  return { messages: [new AIMessage({ id, content: `${name} says: ${"x".repeat(200)}` })] };
}

/** Tokens are in the log before the step ends; values of every kind are in the state. */
async function think(_state: typeof State.State, config: Config) {
  const said = say(config, "think");
  await sceneOf(config).log.flush("with checkpoints");
  const facts = {
    at: new Date(0),
    many: 2n ** 70n,
    bytes: new Uint8Array([0, 255]),
    map: new Map([["a", new Set([1])]]),
  };
  return { ...said, facts };
}

/** Done at once: what it wrote is committed long before its sibling is ready, and waits for the checkpoint. */
function left() {
  return { notes: ["left"] };
}

async function right(_state: typeof State.State, config: Config) {
  const { work, claimed, log } = sceneOf(config);
  const ns = String(config.configurable?.["checkpoint_ns"] ?? "");
  const noted = await callTool(work, { claimed, log, ns, tool_call_id: "right", on_crash: "never" });
  await log.flush();
  return { notes: [noted] };
}

const Inner = new StateGraph(State)
  .addNode("inner_first", () => ({ notes: ["inner first"] }))
  .addNode("inner_second", () => ({ notes: ["inner second"] }))
  .addEdge(START, "inner_first")
  .addEdge("inner_first", "inner_second")
  .addEdge("inner_second", END)
  .compile();

const graph = new StateGraph(State)
  .addNode("think", think)
  .addNode("left", left)
  .addNode("right", right)
  .addNode("inner", Inner)
  .addNode("tidy", tidy)
  .addNode("answer", (_state, config: Config) => say(config, "answer"))
  .addEdge(START, "think")
  .addEdge("think", "left")
  .addEdge("think", "right")
  .addEdge(["left", "right"], "inner")
  .addEdge("inner", "tidy")
  .addEdge("tidy", "answer")
  .addEdge("answer", END);

/** Old checkpoints go while the run is under way: the pieces that its writer remembers may go with them. */
async function tidy(_state: typeof State.State, config: Config) {
  const { work, claimed } = sceneOf(config);
  if (claimed.input && (claimed.input as { tidy?: boolean }).tidy) {
    work.ledger.write({ t: "will_prune", thread_id: claimed.thread_id });
    await work.saver.prune({ thread_id: claimed.thread_id, keep_last: 2 });
  }
  return say(config, "tidy");
}

export function conversation({ saver }: Pick<Work, "saver">) {
  return graph.compile({ checkpointer: saver });
}

export function userMessage(id: string, content: string): HumanMessage {
  return new HumanMessage({ id, content });
}
