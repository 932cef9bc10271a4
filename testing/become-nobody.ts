import { execFileSync } from "node:child_process";

const NOBODY = 65_534;

/**
 * Root may do everything; servers run as somebody else, who may not. Where this process is root's it is nobody's from here on, and so are
 * these folders, until what is given back is called. What is not loaded by then may be out of its reach: a checkout may lie
 * below a folder that only root may enter.
 */
export function becomeNobody(...folders: readonly string[]): () => void {
  if (process.getuid?.() !== 0) return () => undefined;
  execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, ...folders]);
  process.seteuid?.(NOBODY);
  return () => process.seteuid?.(0);
}
