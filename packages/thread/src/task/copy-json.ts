/** A deep copy of what is known to be JSON; `structuredClone` takes ten times as long for a message. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => copyJson(member)) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = copyJson((value as Record<string, unknown>)[key]);
    // Assigned, it would be the copy's prototype.
    if (key === "__proto__") Object.defineProperty(copy, key, { ...OWN, value: member });
    else copy[key] = member;
  }
  return copy as T;
}

const OWN = { enumerable: true, configurable: true, writable: true };
