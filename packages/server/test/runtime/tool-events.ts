import type { StoredEvent } from "@cognition/contract";

/**
 * What is wrong with what a run's log tells of its tool calls: each has one result before the end, and no result is without its
 * call. So for those who drop what a new attempt takes back (`discard_after`), and for those who keep it all.
 */
export function wrongToolEvents(events: readonly StoredEvent[]): string[] {
  const all = wrongIn(events).map((wrong) => `${wrong}, in the whole log`);
  return [...all, ...wrongIn(stillValid(events)).map((wrong) => `${wrong}, for who heeds discard_after`)];
}

/** What a client that heeds `discard_after` has in the end. */
export function stillValid(events: readonly StoredEvent[]): StoredEvent[] {
  let kept: StoredEvent[] = [];
  for (const event of events) {
    const { discard_after = event.id } = event.data as { discard_after?: number };
    kept = [...kept.filter(({ id }) => id <= discard_after), event];
  }
  return kept;
}

interface Told {
  agent?: string;
  id?: string;
  tool_call_id?: string;
}

function wrongIn(events: readonly StoredEvent[]): string[] {
  const open = new Map<string, number>();
  const wrong: string[] = [];
  let attempt = 0;
  for (const { event, data } of events) {
    const { agent = "root", id, tool_call_id = id } = data as Told;
    const call = `${agent} ${tool_call_id}`;
    if (event === "status" && "discard_after" in data) attempt += 1;
    if (event === "tool_call") {
      if (open.get(call) === attempt) wrong.push(`${call} is called twice`);
      open.set(call, attempt); // one that goes on in a new attempt is told again
    }
    if (event === "tool_result" && !open.delete(call)) wrong.push(`${call} has a result that is nobody's`);
    if (event === "done") wrong.push(...[...open.keys()].map((call) => `${call} has no result`));
  }
  return wrong;
}
