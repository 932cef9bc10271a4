import { EVENT_DATA, type EventType } from "@cognition/contract";

/** One event as a client sees it. */
export interface SeenEvent {
  readonly id: number | undefined;
  readonly event: EventType;
  readonly data: Record<string, unknown>;
}

/** The events of a stream until it ends, or until `enough`; each payload is checked against the contract. */
export async function readEvents(
  response: Response,
  enough: (events: readonly SeenEvent[]) => boolean = () => false,
): Promise<SeenEvent[]> {
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    throw new Error(`not a stream: ${response.status} ${await response.text()}`);
  }
  const events: SeenEvent[] = [];
  for await (const frame of readFrames(response.body as ReadableStream<Uint8Array<ArrayBuffer>>)) {
    const { id, event, data } = frame;
    if (event === undefined || data === undefined) continue;
    const type = event as EventType;
    const payload = EVENT_DATA[type].parse(JSON.parse(data)) as Record<string, unknown>;
    events.push({ id: id === undefined ? undefined : Number(id), event: type, data: payload });
    if (enough(events)) break;
  }
  return events;
}

/** Each block of a stream as its fields; a comment is the field "". */
export async function* readFrames(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Record<string, string>> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      yield Object.fromEntries(
        block.split("\n").map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
        }),
      );
    }
  }
}

export function namesOf(events: readonly SeenEvent[]): EventType[] {
  return events.map(({ event }) => event);
}

export function idsOf(events: readonly SeenEvent[]): number[] {
  return events.flatMap(({ id }) => (id === undefined ? [] : [id]));
}
