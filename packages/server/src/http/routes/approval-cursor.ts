import type { ListApprovals } from "@cognition/contract";
import { z } from "zod";
import type { ApprovalPlace } from "../../session/approvals.ts";
import { cursorOf, NOT_OURS, wrongCursor } from "./page.ts";

const Place = z.tuple([z.iso.datetime(), z.string(), z.int().nonnegative()]);

/** Where the page begins, if the caller has seen one. */
export function placeOf(query: ListApprovals): ApprovalPlace | undefined {
  const cursor = cursorOf(query);
  if (cursor === undefined) return undefined;
  const { success, data } = Place.safeParse(decode(cursor));
  if (success) return data;
  throw wrongCursor(NOT_OURS);
}

/** Opaque, and nothing that has to be escaped in an address. */
export function toCursor(place: ApprovalPlace): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined; // no JSON, so no place either
  }
}
