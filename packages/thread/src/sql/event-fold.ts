import { storedJson } from "./json-text.ts";

export interface FoldableEvent {
  seq: number;
  event: string;
  data: string;
}

/** The event `seq` is to stand for `gone` too. */
export interface Fold {
  seq: number;
  data: string;
  gone: number[];
}

interface Text extends Record<string, unknown> {
  content: string;
  message_id?: unknown;
  agent?: unknown;
}

interface Group {
  parts: string[];
  seqs: number[];
  last: Text;
}

/**
 * Joins the texts of each message of one run. A status ends what is open: after a crash it says from where on text is
 * void, and what is void must not be joined with what is not.
 */
export function foldEvents(events: readonly FoldableEvent[]): Fold[] {
  const groups: Group[] = [];
  let open = new Map<string, Group>();
  for (const event of events) {
    if (event.event === "status") {
      open = new Map();
      continue;
    }
    const text = storedJson(event.data, `Event ${event.seq}`) as Text;
    if (typeof text.content !== "string") continue;
    const key = JSON.stringify([event.event, text.message_id ?? null, text.agent ?? null]);
    let group = open.get(key);
    if (!group || !belongs(group, event.seq, text)) {
      group = { parts: [], seqs: [], last: text };
      groups.push(group);
      open.set(key, group);
    }
    group.parts.push(text.content);
    group.seqs.push(event.seq);
    group.last = text;
  }
  return groups.filter(({ seqs }) => seqs.length > 1).map(toFold);
}

/** Text that names no message may be of two, so only neighbours are joined. */
function belongs({ seqs }: Group, seq: number, { message_id }: Text): boolean {
  return message_id !== undefined || seqs.at(-1) === seq - 1;
}

function toFold({ parts, seqs, last }: Group): Fold {
  const data = JSON.stringify({ ...last, content: parts.join(""), folded_from: seqs[0] });
  return { seq: seqs.at(-1) as number, data, gone: seqs.slice(0, -1) };
}
