import { AppError } from "@cognition/contract";
import { TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { ENTRIES_OF_LIST, LIST, type ListEntry } from "./list-entries.ts";
import { PIECE } from "./piece-encoder.ts";

export interface ReferenceVisitor {
  /** The elements of a list, one after the other. */
  run(first: number, count: number): void;
  /** A piece that may name others. */
  piece(id: number): void;
}

/** Tags whose `v` holds the members of an object under their own names: one called "$" is the user's, no tag. */
const OF_MEMBERS = new Set<JsonValue | undefined>(["object", "null-prototype", "message", "document"]);

/** Tells of every piece that an encoded value names. */
export function visitReferences(json: JsonValue, visitor: ReferenceVisitor, where: string): void {
  try {
    visit(json, visitor);
  } catch (cause) {
    throw new AppError("corrupt_data", `${where} is not readable: ${(cause as Error).message}`, { cause });
  }
}

function visit(json: JsonValue, visitor: ReferenceVisitor): void {
  if (json === null || typeof json !== "object") return;
  if (Array.isArray(json)) for (const member of json) visit(member, visitor);
  else if (json[TAG] === LIST || json[TAG] === ENTRIES_OF_LIST) visitEntries(json["e"] as ListEntry[], visitor);
  else if (json[TAG] === PIECE) visitor.piece(json["p"] as number);
  else if (OF_MEMBERS.has(json[TAG])) visitMembers(json["v"] as { [key: string]: JsonValue }, visitor);
  else visitMembers(json, visitor);
}

function visitMembers(members: { [key: string]: JsonValue }, visitor: ReferenceVisitor): void {
  for (const key in members) {
    const member = members[key] as JsonValue;
    // The members of an error are under their own names as well.
    if (key === "own" && members[TAG] === "error") visitMembers(member as { [key: string]: JsonValue }, visitor);
    else visit(member, visitor);
  }
}

function visitEntries(entries: readonly ListEntry[], visitor: ReferenceVisitor): void {
  for (const entry of entries) {
    if (typeof entry === "number") visitor.piece(entry);
    else if (Array.isArray(entry)) visitor.run(entry[0], entry[1]);
    else visit(entry.v, visitor);
  }
}
