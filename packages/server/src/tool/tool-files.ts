import { join } from "node:path";
import { whenChanged } from "../definition/when-changed.ts";
import { createFileSet, type LoadedFiles } from "../file/file-set.ts";
import { findByEnding } from "../file/find-files.ts";
import type { Problem } from "../file/problem.ts";
import { type ImportModule, loadToolModule } from "./load-tool-module.ts";
import type { RegisteredTool } from "./tool.ts";

const ENDINGS = [".ts", ".mts", ".js", ".mjs"];

export interface ToolsOfFiles {
  /** Two of one name are both here: the registry settles it. */
  readonly tools: readonly RegisteredTool[];
  readonly problems: readonly Problem[];
}

export interface ToolFiles {
  /** As the files are now; the same object as before, if nothing has changed. */
  refresh(): Promise<ToolsOfFiles>;
}

export interface ToolFilesOptions {
  root: string;
  importModule?: ImportModule;
}

/**
 * Tools of one's own, in `.cognition/tools`. They run inside the server with all its rights: whoever may write there may do
 * anything. A file that can't be loaded leaves its former tools in force.
 */
export function createToolFiles({ root, importModule }: ToolFilesOptions): ToolFiles {
  const files = createFileSet({
    root,
    folder: join(root, ".cognition", "tools"),
    find: async (folder) => (await findByEnding(folder, ENDINGS)).filter((path) => !/\.d\.m?ts$/.test(path)),
    parse: async (file) => {
      const tools = await loadToolModule(file, importModule);
      return tools.map((tool): RegisteredTool => ({ ...tool, source: "file", origin: file.label }));
    },
  });

  const toTools = whenChanged(({ files, problems }: LoadedFiles<RegisteredTool[]>) => ({
    tools: files.flatMap(({ value }) => value ?? []),
    problems,
  }));

  return { refresh: async () => toTools(await files.refresh()) };
}
