import { AppError } from "@cognition/contract";

export function idInUse(id: string): AppError {
  const message = `The id "${id}" belongs to another command of this sandbox. Nothing was run; give each command an id of its own.`;
  return new AppError("already_exists", message, { details: { id } });
}
