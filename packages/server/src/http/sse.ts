import type { ConnectionEvent, StoredEvent } from "@cognition/contract";

export const HEARTBEAT = ":heartbeat\n\n";

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache",
  // Proxies would otherwise collect what they should pass on.
  "X-Accel-Buffering": "no",
};

/**
 * First on every stream. With a position, a client that is cut off before its first event comes back to where it began,
 * and not to what comes next by then.
 */
export function retryFrame(ms: number, position?: number): string {
  return position === undefined ? `retry: ${ms}\n\n` : `retry: ${ms}\nid: ${position}\n\n`;
}

/** Followers of one session are handed the same object, so what a thousand of them are sent is made once. */
const frames = new WeakMap<StoredEvent, string>();

export function eventFrame(event: StoredEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = `id: ${event.id}\nevent: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** About this connection only, so without an id: the position that a client keeps stays that of the last event. */
export function connectionFrame({ event, data }: ConnectionEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
