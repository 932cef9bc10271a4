import type { CircuitBreaker } from "@cognition/contract";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { answerWithin } from "../answer-within.ts";
import type { ObserveRun } from "../run/run-observer.ts";
import { createRunMetrics } from "./run-metrics.ts";

/** What is read when somebody looks, not counted as it happens. */
export interface MetricSources {
  activeRuns(): number;
  openStreams(): number;
  /** The rest asks the storage. */
  storageUp(): Promise<boolean>;
  queuedRuns(): Promise<number>;
  pendingDeliveries(): Promise<number>;
  circuitBreakers(): Promise<Record<string, CircuitBreaker>>;
}

export interface Metrics {
  /** The text that Prometheus reads, and its content type. */
  read(): Promise<{ text: string; type: string }>;
  observe: ObserveRun;
  request(request: { route: string; method: string; status: number; seconds: number }): void;
  /** One commit of the storage, from its call until it was durable. */
  commit(seconds: number): void;
  delivery(outcome: "delivered" | "failed"): void;
  watch(sources: MetricSources): void;
}

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** With `process`, the memory, processor and event loop of this process too: once in a process. */
export function createMetrics(options: { process: boolean }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.process) collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "cognition_http_requests_total",
    help: "Requests answered",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const seconds = new Histogram({
    name: "cognition_http_request_duration_seconds",
    help: "From a request's arrival to the beginning of its answer",
    labelNames: ["route"],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const commits = new Histogram({
    name: "cognition_storage_commit_seconds",
    help: "From a write's call until it was durable",
    buckets: COMMIT_SECONDS,
    registers,
  });
  const deliveries = new Counter({
    name: "cognition_delivery_attempts_total",
    help: "Attempts to deliver a callback",
    labelNames: ["outcome"],
    registers,
  });
  return {
    read: async () => ({ text: await registry.metrics(), type: registry.contentType }),
    observe: createRunMetrics(registry),
    request: ({ route, method, status, seconds: took }) => {
      requests.inc({ route, method, status });
      seconds.observe({ route }, took);
    },
    commit: (took) => commits.observe(took),
    delivery: (outcome) => deliveries.inc({ outcome }),
    watch: (sources) => addGauges(registry, sources),
  };
}

function addGauges(registry: Registry, sources: MetricSources): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  const unknown = () => Number.NaN;
  gauge("cognition_active_runs", "Runs that this node works on", sources.activeRuns);
  gauge("cognition_open_streams", "Event streams that this node serves", sources.openStreams);
  gauge("cognition_storage_up", "1 while the storage answers this node, else 0", () =>
    answered(
      async () => Number(await sources.storageUp()),
      () => 0,
    ),
  );
  gauge("cognition_queued_runs", "Runs that wait for a node, over all nodes", () =>
    answered(sources.queuedRuns, unknown),
  );
  gauge("cognition_pending_deliveries", "Callbacks that are due or will be tried again", () =>
    answered(sources.pendingDeliveries, unknown),
  );
  new Gauge({
    name: "cognition_circuit_breaker_open",
    help: "1 while a failing service is not called, 0.5 while it is being tried, else 0",
    labelNames: ["name"],
    registers: [registry],
    async collect() {
      this.reset();
      const breakers = Object.entries(
        await answered<Record<string, CircuitBreaker>>(sources.circuitBreakers, () => ({})),
      );
      for (const [name, { state }] of breakers) this.set({ name }, OPENNESS[state]);
    },
  });
}

/** Below what a scrape waits for. */
const ANSWER_WITHIN_MS = 2_500;

/** While the storage is gone or hangs, a node's own figures are what is needed most. */
function answered<T>(ask: () => Promise<T>, otherwise: () => T): Promise<T> {
  return answerWithin(ANSWER_WITHIN_MS, ask().catch(otherwise), otherwise);
}

const OPENNESS: Record<CircuitBreaker["state"], number> = { closed: 0, half_open: 0.5, open: 1 };
