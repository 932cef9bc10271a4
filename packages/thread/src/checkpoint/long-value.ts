/** A reference takes about 20 bytes and a row of its own about as many again. */
export const INLINE_BYTES = 200;
/** A text among other members; to look every text up by what it says would take longer than to write the short ones again. */
export const LONG_TEXT = 1_000;

/** Whether the encoding of a value takes more than a reference is worth. Looks no further than that. */
export function isLong(value: unknown): boolean {
  return roomAfter(value, INLINE_BYTES) < 0;
}

/** Copies of a map's members are not known by identity, but by what they hold, once they are looked at one by one. */
export function holdsLong(object: object): boolean {
  return Object.values(object).some((member) => {
    if (typeof member === "string") return member.length > LONG_TEXT;
    return typeof member === "object" && member !== null && !Array.isArray(member) && isLong(member);
  });
}

/** What is left of so many bytes; less than nothing as soon as that is sure. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (typeof value !== "object" || value === null) return room - String(value).length;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return room - value.byteLength;
  if (value instanceof Error) return room - value.message.length - (value.stack?.length ?? 0);
  const members = value instanceof Map || value instanceof Set ? [...value] : value;
  let left = room - 2;
  for (const [key, member] of Object.entries(members)) {
    left = roomAfter(member, left - key.length - 4);
    if (left < 0) break;
  }
  return left;
}
