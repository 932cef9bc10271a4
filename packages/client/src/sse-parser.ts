/** One event of a stream, or a mere change of position (`data` is undefined then). */
export interface SseFrame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string | undefined;
}

export interface SseParser {
  /** The frames that this chunk completes. What a stream leaves unfinished at its end is no event. */
  push(chunk: Uint8Array): SseFrame[];
  /** What the server last asked for with `retry:`, in milliseconds. */
  readonly retry: number | undefined;
  /** Comments so far: a server that has nothing to tell shows by them that it is there. */
  readonly comments: number;
}

/** Reads server-sent events as WHATWG defines them, whatever the chunks: they may end inside a character or between CR and LF. */
export function createSseParser(): SseParser {
  const lines = createLineReader();
  let retry: number | undefined;
  let comments = 0;
  let id: string | undefined;
  let event = "";
  let data: string | undefined;

  function readField(line: string): void {
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^\d+$/.test(value)) retry = Number(value);
  }

  function takeFrame(): SseFrame[] {
    const frame = { id, event: event || "message", data };
    id = undefined;
    event = "";
    data = undefined;
    return frame.data === undefined && frame.id === undefined ? [] : [frame];
  }

  return {
    push: (chunk) =>
      lines(chunk).flatMap((line) => {
        if (line === "") return takeFrame();
        if (line.startsWith(":")) comments += 1;
        else readField(line);
        return [];
      }),
    get retry() {
      return retry;
    },
    get comments() {
      return comments;
    },
  };
}

/** The lines that each chunk completes. */
function createLineReader(): (chunk: Uint8Array) => string[] {
  // Not fatal: a byte that is no UTF-8 must not end the stream. It also takes a byte order mark away.
  const decoder = new TextDecoder();
  // What the line holds that has not ended yet, joined when it does: to look through it with every chunk would take a long
  // one, such as a file that a tool writes, seconds and minutes.
  let begun: string[] = [];
  let endedInReturn = false;

  return (chunk) => {
    const decoded = decoder.decode(chunk, { stream: true });
    if (decoded === "") return [];
    const text = endedInReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    endedInReturn = decoded.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const last = lines.pop() ?? "";
    if (lines.length === 0) {
      begun.push(last);
      return lines;
    }
    lines[0] = begun.join("") + lines[0];
    begun = [last];
    return lines;
  };
}
