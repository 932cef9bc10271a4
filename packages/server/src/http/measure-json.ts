/** By how many bytes of the largest body there may be a value: less than most take, and more than any mistake has. */
const BYTES_PER_VALUE = 64;
/** Where a field's own limit is lower, it is that field which is told. */
const MAX_DEPTH = 1_000;
/** Below it nothing is deep or wide enough to be looked at. */
const HARMLESS_BYTES = MAX_DEPTH;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OTHER, STRING, NEXT, OPENING, CLOSING] = [0, 1, 2, 3, 4];
/** A look at a table for each byte: what takes ten times as long could be made to take a second. */
const KINDS = new Uint8Array(256).fill(OTHER);
KINDS[QUOTE] = STRING;
KINDS[0x2c] = NEXT;
for (const bracket of "[{") KINDS[bracket.charCodeAt(0)] = OPENING;
for (const bracket of "]}") KINDS[bracket.charCodeAt(0)] = CLOSING;

export interface JsonExcess {
  readonly limit: "body_depth" | "body_values";
  readonly max: number;
}

/**
 * Which limit a text passes that is, or is not, JSON. A body of a few megabytes may hold millions of values, or be as deep as it is
 * long: parsing and checking them would hold up everybody else for seconds, in which runs lose their leases. Bytes are looked
 * at as they came, which is a hundred times faster.
 */
export function findExcess(bytes: Uint8Array, maxBytes: number): JsonExcess | undefined {
  if (bytes.length <= HARMLESS_BYTES) return undefined;
  const maxValues = Math.ceil(maxBytes / BYTES_PER_VALUE);
  let [depth, values] = [0, 1];
  for (let at = 0; at < bytes.length; at++) {
    const kind = KINDS[bytes[at] as number];
    if (kind === OTHER) continue;
    if (kind === STRING) at = endOfString(bytes, at);
    else if (kind === CLOSING) depth -= 1;
    else {
      values += 1;
      if (kind === OPENING) depth += 1;
    }
    if (depth > MAX_DEPTH) return { limit: "body_depth", max: MAX_DEPTH };
    if (values > maxValues) return { limit: "body_values", max: maxValues };
  }
  return undefined;
}

/** Of one that never ends, the end of the text: whoever parses it says so. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  return bytes.length;
}
