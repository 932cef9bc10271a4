import type { Config } from "../config/config-schema.ts";
import { joinObservers, type ObserveRun } from "../run/run-observer.ts";
import { VERSION } from "../version.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { newTraceId } from "./traceparent.ts";

/** Metrics, and traces where they are configured. */
export interface Telemetry {
  metrics: Metrics;
  observe: ObserveRun | undefined;
  /** For runs whose request brought no trace; undefined where nobody would collect it. */
  newTraceId: (() => string) | undefined;
  /** Sends what was gathered. */
  close(): Promise<void>;
}

/** With `process`, the process's own metrics too: once in a process. */
export async function createTelemetry(config: Config, options: { process?: boolean } = {}): Promise<Telemetry> {
  const metrics = createMetrics({ process: options.process ?? false });
  const { endpoint, headers, service_name } = config.traces;
  if (endpoint === undefined) {
    return { metrics, observe: metrics.observe, newTraceId: undefined, close: async () => undefined };
  }
  const { createTracing } = await import("./tracing.ts"); // some 400 modules that most starts do without
  const tracing = createTracing({ endpoint, headers, service_name, version: VERSION });
  return {
    metrics,
    observe: joinObservers([metrics.observe, tracing.observe]),
    newTraceId,
    close: tracing.close,
  };
}
