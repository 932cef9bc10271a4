import type { ErrorCode } from "@cognition/contract";

export interface SystemProblem {
  code: ErrorCode;
  message: string;
}

/** What somebody who runs the server can do something about; undefined for any other error. */
export function systemProblem(error: unknown): SystemProblem | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return { code: "workspace_path_refused", message: refused(message) };
    case "ENOSPC":
    case "EDQUOT":
      return { code: "limit_exceeded", message: noSpace(message) };
    default:
      return undefined;
  }
}

function refused(reason: string): string {
  return `The operating system does not let the server read or change the files of the workspace (${reason}); what is stored of them is whole. Give it the right to, and do it again.`;
}

function noSpace(reason: string): string {
  return `There is no space left for the files of the workspace (${reason}); what is stored of them is whole. Make room, and do it again.`;
}
