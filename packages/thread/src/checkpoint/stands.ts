/** What is written beside the conversation, and goes back with it or without it. */
export type Written = "artifacts" | "memory";

/** Where these stand, if not where the conversation does: the checkpoint, or "" for before the first. */
export type Stands = Partial<Record<Written, string>>;

type Metadata = Readonly<Record<string, unknown>>;

const KINDS: readonly Written[] = ["artifacts", "memory"];

export function standsKey(kind: Written): string {
  return `${kind}_at`;
}

/** The checkpoint that a rewind took them to, by what it noted at the head that it made. */
export function standsAt(metadata: Metadata, kind: Written): string | null {
  const at = metadata["source"] === "fork" ? metadata[standsKey(kind)] : undefined;
  return typeof at === "string" ? at : null;
}

/** What another head noted is not said of this one. */
export function noteStands(metadata: Metadata, stands: Stands): Record<string, unknown> {
  const noted: Record<string, unknown> = { ...metadata };
  for (const kind of KINDS) {
    delete noted[standsKey(kind)];
    if (stands[kind] !== undefined) noted[standsKey(kind)] = stands[kind];
  }
  return noted;
}

export function allStands(metadata: Metadata): string[] {
  return KINDS.flatMap((kind) => standsAt(metadata, kind) ?? []);
}
