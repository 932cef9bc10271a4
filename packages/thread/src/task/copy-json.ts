/** A deep copy of what is known to be JSON; `structuredClone` takes ten times as long for a message. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)])) as T;
}
