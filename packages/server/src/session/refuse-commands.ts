import { AppError } from "@cognition/contract";

/** What LangGraph makes of plain data: commands, nodes to be sent for, values that go past a channel's reducer. */
const CLASSES: ReadonlySet<unknown> = new Set(["Command", "Send", "Overwrite"]);
const OVERWRITE = "__overwrite__";
const PROTO = "__proto__";

type Path = readonly (string | number)[];

/**
 * What a caller gives to a graph is data. LangGraph takes an object with its own marks for an order instead, wherever it comes
 * to it: to begin at another node, behind whatever the graph's author has put before it, or to replace what only grows. And a
 * member called `__proto__` becomes what an object inherits from, as soon as LangGraph copies it: no state can hold it.
 */
export function refuseCommands(value: unknown, at: Path): void {
  const path = findMark(value, at);
  if (!path) return;
  const msg =
    path.at(-1) === PROTO
      ? "is a name that no state can hold"
      : "is a mark of LangGraph's own, by which data would command the graph";
  throw new AppError("validation_failed", `${path.join(".")} ${msg}; nothing was stored. Leave it out.`, {
    details: { errors: [{ loc: ["body", ...path], msg }] },
  });
}

function findMark(value: unknown, at: Path): Path | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const key = Array.isArray(value) ? undefined : markOf(value as Record<string, unknown>);
  if (key !== undefined) return [...at, key];
  for (const [name, member] of Object.entries(value)) {
    const found = findMark(member, [...at, name]);
    if (found) return found;
  }
  return undefined;
}

function markOf(object: Record<string, unknown>): string | undefined {
  for (const name of [OVERWRITE, PROTO]) if (Object.hasOwn(object, name)) return name;
  if (CLASSES.has(object["lg_name"])) return "lg_name";
  return object["type"] === OVERWRITE ? "type" : undefined;
}
