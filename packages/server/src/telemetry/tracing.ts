import { type Context, ROOT_CONTEXT, SpanKind, TraceFlags, type Tracer, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from "@opentelemetry/sdk-trace";
import type { ObserveRun } from "../run/run-observer.ts";
import { createRunSpans } from "./run-spans.ts";

export interface TracingOptions {
  /** The collector, as OTLP over HTTP: `http://localhost:4318/v1/traces`. */
  endpoint: string;
  headers?: Readonly<Record<string, string>>;
  service_name: string;
  version: string;
  /** How long spans are gathered before they are sent. */
  delay_ms?: number;
}

export interface Tracing {
  observe: ObserveRun;
  /** Sends what was gathered. */
  close(): Promise<void>;
}

const DELAY_MS = 2_000;

/** Spans of runs, model calls and tool calls. Texts of users and models are not in them: those are in the log of events. */
export function createTracing({
  endpoint,
  headers,
  service_name,
  version,
  delay_ms = DELAY_MS,
}: TracingOptions): Tracing {
  const ids = createChosenIds();
  const exporter = new OTLPTraceExporter({ url: endpoint, ...(headers ? { headers } : {}) });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": service_name, "service.version": version }),
    idGenerator: ids.generator,
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: delay_ms })],
  });
  const tracer = provider.getTracer("cognition", version);
  return { observe: createRunSpans(startRunSpan(tracer, ids.choose), tracer), close: () => provider.shutdown() };
}

export type StartRunSpan = ReturnType<typeof startRunSpan>;

/** Under the caller's span if there is one, else at the beginning of the trace whose id the run carries. */
function startRunSpan(tracer: Tracer, choose: (trace_id: string) => void) {
  return (name: string, trace_id: string | null, parent_span_id: string | undefined) => {
    if (trace_id !== null && parent_span_id === undefined) choose(trace_id);
    const context = trace_id === null ? ROOT_CONTEXT : parentContext(trace_id, parent_span_id);
    return tracer.startSpan(name, { kind: SpanKind.INTERNAL }, context);
  };
}

function parentContext(traceId: string, spanId: string | undefined): Context {
  if (spanId === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

/** The SDK makes up the id of every new trace; here the run has one already, and it is asked for in the same turn. */
function createChosenIds() {
  const random = new RandomIdGenerator();
  let chosen: string | undefined;
  return {
    choose: (trace_id: string) => {
      chosen = trace_id;
    },
    generator: {
      generateSpanId: () => random.generateSpanId(),
      generateTraceId: () => {
        const id = chosen ?? random.generateTraceId();
        chosen = undefined;
        return id;
      },
    },
  };
}
