import { isAppError } from "@cognition/contract";
import type { SandboxBackendProtocolV2 } from "deepagents";
import { currentRun } from "./run-scope.ts";

/** How deepagents begins what it writes. */
const SECTION = "## Summarized at ";

/** Where deepagents writes what it has summed up: behind what is in the file already, where a workspace would replace it. */
export function createHistoryBackend(backend: SandboxBackendProtocolV2): SandboxBackendProtocolV2 {
  return {
    ...backend,
    write: async (path, section) => {
      const { workspace, work } = currentRun();
      const known = await readIfThere(path.replace(/^\/+/, ""));
      await workspace.before();
      try {
        return await backend.write(path, withSection(known, section));
      } finally {
        await workspace.after(work.signal);
      }
    },
  };
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await currentRun().sandbox.files.readText(path);
  } catch (error) {
    if (isAppError(error, "file_not_found")) return "";
    throw error;
  }
}

/** One that was summed up and then came to no answer is summed up again: its section is replaced. */
function withSection(history: string, section: string): string {
  const at = history.lastIndexOf(SECTION);
  const again = at !== -1 && textIn(section).startsWith(textIn(history.slice(at)));
  return (again ? history.slice(0, at) : history) + section;
}

function textIn(section: string): string {
  return section.slice(section.indexOf("\n")).trimEnd();
}
