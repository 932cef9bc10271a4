export type Engine = "none" | "memory" | "sqlite" | "postgres";

export interface Side {
  readonly name: string;
  readonly label: string;
  readonly engine: Engine;
  /** What ours is compared with: LangGraph's own savers, or sides that keep nothing that could be read again. */
  readonly kind: "floor" | "ours" | "official";
  /** The colour of its lines, readable on white and on black. */
  readonly colour: string;
}

export const sides: readonly Side[] = [
  { name: "none", label: "no checkpointer", engine: "none", kind: "floor", colour: "#8a8f98" },
  { name: "null", label: "a saver that stores nothing", engine: "none", kind: "floor", colour: "#5d646d" },
  { name: "least-sqlite", label: "one row, SQLite", engine: "sqlite", kind: "floor", colour: "#7fb2e5" },
  {
    name: "least-postgres",
    label: "one row, PostgreSQL",
    engine: "postgres",
    kind: "floor",
    colour: "#b09be0",
  },
  { name: "ours-memory", label: "Cognition, memory", engine: "memory", kind: "ours", colour: "#4aa3a0" },
  { name: "ours-sqlite", label: "Cognition, SQLite", engine: "sqlite", kind: "ours", colour: "#2f7fd1" },
  { name: "ours-postgres", label: "Cognition, PostgreSQL", engine: "postgres", kind: "ours", colour: "#7a5cc9" },
  { name: "official-memory", label: "official MemorySaver", engine: "memory", kind: "official", colour: "#b59a2e" },
  { name: "official-sqlite", label: "official SqliteSaver", engine: "sqlite", kind: "official", colour: "#d9772b" },
  {
    name: "official-postgres",
    label: "official PostgresSaver",
    engine: "postgres",
    kind: "official",
    colour: "#cc4b4b",
  },
];

/** Beyond this the official savers take gigabytes and many minutes. */
const OFFICIAL_STEPS = 800;

export function takesPart(side: Side, steps: number): boolean {
  return side.kind !== "official" || steps <= OFFICIAL_STEPS;
}

export function sideNamed(name: string): Side {
  const side = sides.find((one) => one.name === name);
  if (!side) throw new Error(`There is no side ${name}; the sides are ${sides.map((one) => one.name).join(", ")}`);
  return side;
}
