import { AppError } from "@cognition/contract";

export function pathRefused(path: string, reason: string): AppError {
  return new AppError("workspace_path_refused", `"${path}" is refused: ${reason}. Nothing was read or changed.`, {
    details: { path },
  });
}

export function workspaceGone(folder: string, rest: string, cause?: unknown): AppError {
  const reason = "the session's workspace folder is gone or is no folder any more";
  return new AppError("workspace_path_refused", `"${folder}" cannot be used: ${reason}. ${rest}`, { cause });
}

export function pathProtected(path: string): AppError {
  return new AppError(
    "forbidden",
    `"${path}" is protected: the server's own configuration and data are there. Nothing was read or changed.`,
    { details: { path } },
  );
}

function fileNotFound(path: string, cause?: unknown): AppError {
  return new AppError("file_not_found", `There is no "${path}" in the workspace.`, { details: { path }, cause });
}

export function wrongType(path: string, expected: string): AppError {
  return new AppError("validation_failed", `"${path}" is not ${expected}. Nothing was changed.`, { details: { path } });
}

/** Turns what the system says about a path into what a caller may branch on; anything unexpected stays as it is. */
export function fromSystemError(error: unknown, path: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return fileNotFound(path, error);
    case "ELOOP":
      return pathRefused(path, "it became a symbolic link during the operation, or its links go in a circle");
    case "ENOTDIR":
      return wrongType(path, "a folder, or something above it is not");
    case "EISDIR":
      return wrongType(path, "a file");
    case "ENXIO":
      return wrongType(path, "a regular file");
    case "ENAMETOOLONG":
      return pathRefused(path, "a name in it is too long for the file system");
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return pathRefused(path, "the operating system does not allow it");
    case "ENOSPC":
    case "EDQUOT":
      return new AppError("limit_exceeded", `There is no space left to write "${path}"; the file is as it was.`, {
        cause: error,
      });
    default:
      return error;
  }
}
