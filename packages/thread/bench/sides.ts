export type Engine = "none" | "memory" | "sqlite" | "postgres";

export interface Side {
  readonly name: string;
  readonly label: string;
  readonly engine: Engine;
  readonly official: boolean;
  /** The colour of its lines, readable on white and on black. */
  readonly colour: string;
}

export const sides: readonly Side[] = [
  { name: "none", label: "no checkpointer", engine: "none", official: false, colour: "#8a8f98" },
  { name: "null", label: "a saver that stores nothing", engine: "none", official: false, colour: "#5d646d" },
  { name: "ours-memory", label: "Cognition, memory", engine: "memory", official: false, colour: "#4aa3a0" },
  { name: "ours-sqlite", label: "Cognition, SQLite", engine: "sqlite", official: false, colour: "#2f7fd1" },
  { name: "ours-postgres", label: "Cognition, PostgreSQL", engine: "postgres", official: false, colour: "#7a5cc9" },
  { name: "official-memory", label: "official MemorySaver", engine: "memory", official: true, colour: "#b59a2e" },
  { name: "official-sqlite", label: "official SqliteSaver", engine: "sqlite", official: true, colour: "#d9772b" },
  { name: "official-postgres", label: "official PostgresSaver", engine: "postgres", official: true, colour: "#cc4b4b" },
];

/** Beyond this the official savers take gigabytes and many minutes. */
const OFFICIAL_STEPS = 800;

export function takesPart(side: Side, steps: number): boolean {
  return !side.official || steps <= OFFICIAL_STEPS;
}

export function sideNamed(name: string): Side {
  const side = sides.find((one) => one.name === name);
  if (!side) throw new Error(`There is no side ${name}; the sides are ${sides.map((one) => one.name).join(", ")}`);
  return side;
}
