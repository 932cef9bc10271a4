import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Workspace {
  root: string;
  path(name: string): string;
  write(files: Record<string, string>): Promise<void>;
  remove(name: string): Promise<void>;
  dispose(): Promise<void>;
}

/** A folder of its own, gone afterwards. */
export async function createWorkspace(files: Record<string, string> = {}): Promise<Workspace> {
  const root = await mkdtemp(join(tmpdir(), "cognition-"));
  const path = (name: string) => join(root, name);
  const workspace: Workspace = {
    root,
    path,
    async write(more) {
      for (const [name, text] of Object.entries(more)) {
        await mkdir(dirname(path(name)), { recursive: true });
        await writeFile(path(name), text);
      }
    },
    remove: (name) => rm(path(name), { recursive: true }),
    // A process that was just killed may have made a file the moment before.
    dispose: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
  await workspace.write(files);
  return workspace;
}
