import { lchown, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../file/error-text.ts";
import { entryOf, type OpenFolder, openFolder, openFolderIn } from "../../file/open-folder.ts";
import type { Workspace } from "../backend.ts";
import { undefinedIfMissing } from "../file/file-access.ts";

export interface User {
  readonly uid: number;
  readonly gid: number;
}

const AGENT: User = { uid: 1000, gid: 1000 };
/** Each folder on the way holds a descriptor, of which a process has about a thousand. What the server makes lies in no deeper one. */
const MAX_DEPTH = 200;

/**
 * Who commands run as: never root, and whoever the workspace belongs to, since without capabilities nobody else can write
 * there. A server that is not root runs them as itself.
 */
export async function workspaceUser({ folder }: Workspace): Promise<User> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const { uid, gid } = await stat(folder);
  return uid === 0 ? AGENT : { uid, gid };
}

/** Gives the user what root made in the workspace; protected and hidden paths stay as they are. */
export async function handOver({ folder, paths }: Workspace, user: User): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const kept = new Set([...paths.protected, ...paths.hidden]);
  const root = await openFolder(folder);
  try {
    await give(root, Buffer.from("."), user);
    await giveBelow(root, folder, { user, kept, depth: 1 });
  } finally {
    await root.handle.close();
  }
}

interface Giving {
  readonly user: User;
  readonly kept: ReadonlySet<string>;
  readonly depth: number;
}

/** Through open folders: another session may be at work here, and swap a folder for a link to one of the machine's. */
async function giveBelow(folder: OpenFolder, path: string, giving: Giving): Promise<void> {
  for (const entry of await readdir(entryOf(folder, "."), { withFileTypes: true, encoding: "buffer" })) {
    const below = join(path, entry.name.toString());
    if (giving.kept.has(below)) continue;
    await give(folder, entry.name, giving.user);
    if (!entry.isDirectory() || giving.depth > MAX_DEPTH) continue;
    const child = await openFolderIn(folder, entry.name).catch(undefinedIfGone);
    if (!child) continue;
    try {
      await giveBelow(child, below, { ...giving, depth: giving.depth + 1 });
    } finally {
      await child.handle.close();
    }
  }
}

async function give(folder: OpenFolder, name: Buffer, { uid, gid }: User): Promise<void> {
  const path = entryOf(folder, name);
  const stats = await lstat(path).catch(undefinedIfMissing);
  if (stats?.uid === 0) await lchown(path, uid, gid).catch(undefinedIfMissing);
}

function undefinedIfGone(error: unknown): undefined {
  if (!hasCode(error, "ENOENT", "ENOTDIR", "ELOOP")) throw error;
}
