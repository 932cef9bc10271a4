import { Counter, Histogram, type Registry } from "prom-client";
import type { ObserveRun } from "../run/run-observer.ts";

/** A model may call tools and a caller may name models that do not exist; past this many, they share a label. */
const MAX_NAMES = 200;
const RUN_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** What runs do, counted as it goes into their logs. Labels that a user can choose have a limit. */
export function createRunMetrics(registry: Registry): ObserveRun {
  const counters = createCounters(registry);
  const [toolName, modelName] = [boundedNames(), boundedNames()];
  return (claimed) => {
    const started = performance.now();
    const tools = new Map<string, string>();
    const models = new Map<string, number>();
    return {
      event: (event, data) => {
        counters.events.inc({ event });
        if (event === "tool_call") tools.set(String(data["id"]), String(data["name"]));
        if (event === "tool_result") {
          const id = String(data["tool_call_id"]);
          counters.tools.inc({ tool: toolName(tools.get(id) ?? "unknown"), outcome: String(data["outcome"]) });
          tools.delete(id);
        }
        if (event === "done") {
          const status = String(data["status"]);
          counters.runs.inc({ status });
          const waited = Date.parse(claimed.run.created_at);
          counters.runSeconds.observe({ status }, Math.max(0, (Date.now() - waited) / 1000));
        }
      },
      modelStarted: (id) => void models.set(id, performance.now()),
      modelEnded: (id, { usage, error }) => {
        const outcome = error === undefined ? "ok" : "error";
        const about = { provider: usage?.provider ?? "unknown", model: modelName(usage?.model ?? "unknown") };
        counters.modelSeconds.observe({ ...about, outcome }, (performance.now() - (models.get(id) ?? started)) / 1000);
        models.delete(id);
        if (!usage) return;
        counters.tokens.inc({ ...about, direction: "input" }, usage.input_tokens);
        counters.tokens.inc({ ...about, direction: "output" }, usage.output_tokens);
      },
      repaired: () => counters.repairs.inc(),
      closed: () => undefined,
    };
  };
}

function boundedNames(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (!known.has(name) && known.size >= MAX_NAMES) return "other";
    known.add(name);
    return name;
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];
  return {
    events: new Counter({
      name: "cognition_events_total",
      help: "Events of runs, by type",
      labelNames: ["event"],
      registers,
    }),
    runs: new Counter({ name: "cognition_runs_total", help: "Runs that ended", labelNames: ["status"], registers }),
    runSeconds: new Histogram({
      name: "cognition_run_duration_seconds",
      help: "From a run's acceptance to its end",
      labelNames: ["status"],
      buckets: RUN_SECONDS,
      registers,
    }),
    repairs: new Counter({
      name: "cognition_message_repairs_total",
      help: "Runs at whose end the messages were not what the checkpoint says, and were rebuilt",
      registers,
    }),
    tools: new Counter({
      name: "cognition_tool_calls_total",
      help: "Tool calls that ended",
      labelNames: ["tool", "outcome"],
      registers,
    }),
    modelSeconds: new Histogram({
      name: "cognition_model_call_duration_seconds",
      help: "Model calls, to the end of the answer",
      labelNames: ["provider", "model", "outcome"],
      buckets: RUN_SECONDS,
      registers,
    }),
    tokens: new Counter({
      name: "cognition_model_tokens_total",
      help: "Tokens as providers reported them",
      labelNames: ["provider", "model", "direction"],
      registers,
    }),
  };
}
