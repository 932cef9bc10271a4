import { AppError } from "@cognition/contract";

/** JSON for a text column. What has no JSON form (a bigint, a cycle) is refused by the field's name, not half-kept. */
export function jsonText(value: unknown, field: string): string {
  try {
    return JSON.stringify(value ?? null);
  } catch (cause) {
    throw new AppError("unserializable_value", `${field} has no JSON form: ${(cause as Error).message}`, { cause });
  }
}
