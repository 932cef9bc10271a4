import { randomBytes } from "node:crypto";

/** W3C Trace Context, version 00 and whatever a later one adds behind it. */
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-|$)/;

export interface TraceParent {
  readonly trace_id: string;
  readonly span_id: string;
}

/** Undefined for a header that is none: tracing is never a reason to refuse a request. */
export function parseTraceparent(header: string | null | undefined): TraceParent | undefined {
  const [, trace_id, span_id] = FORM.exec(header ?? "") ?? [];
  return trace_id === undefined || span_id === undefined ? undefined : { trace_id, span_id };
}

export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}
