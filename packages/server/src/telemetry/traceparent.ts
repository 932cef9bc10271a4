import { randomBytes } from "node:crypto";

/** W3C Trace Context, version 00 and whatever a later one adds behind it. */
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

export interface TraceParent {
  readonly trace_id: string;
  readonly span_id: string;
  readonly sampled: boolean;
}

/** Undefined for a header that is none: tracing is never a reason to refuse a request. */
export function parseTraceparent(header: string | null | undefined): TraceParent | undefined {
  const found = FORM.exec(header ?? "");
  const [, trace_id, span_id, flags] = found ?? [];
  if (trace_id === undefined || span_id === undefined || flags === undefined) return undefined;
  return { trace_id, span_id, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}
