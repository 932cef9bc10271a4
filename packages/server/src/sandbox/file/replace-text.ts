import { AppError } from "@cognition/contract";
import type { FileEdit } from "../sandbox.ts";

export function replaceText(text: string, edit: FileEdit, path: string): { text: string; replaced: number } {
  const { old_text, new_text, replace_all = false } = edit;
  if (old_text === "") throw invalid(path, "The text to replace is empty");
  const pieces = text.split(old_text);
  const found = pieces.length - 1;
  if (found === 0) throw invalid(path, "The text to replace does not occur in it, exactly as given");
  if (found > 1 && !replace_all)
    throw invalid(
      path,
      `The text to replace occurs ${found} times; give more of what is around it, or set replace_all`,
    );
  return { text: pieces.join(new_text), replaced: found };
}

function invalid(path: string, reason: string): AppError {
  return new AppError("validation_failed", `"${path}" was not edited and is as it was. ${reason}.`, {
    details: { path },
  });
}
