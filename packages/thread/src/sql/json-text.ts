import { AppError } from "@cognition/contract";
import { parseJson } from "../checkpoint/serializer.ts";

/** JSON for a text column. What has no JSON form (a bigint, a cycle) is refused by the field's name, not half-kept. */
export function jsonText(value: unknown, field: string): string {
  try {
    return JSON.stringify(value ?? null);
  } catch (cause) {
    throw new AppError("unserializable_value", `${field} has no JSON form: ${(cause as Error).message}`, { cause });
  }
}

/** What a text column holds: of any type, as it was given. A row that can't be read is told by `where`. */
export function storedJson(text: string, where: string): ReturnType<typeof JSON.parse> {
  return parseJson(text, where);
}
