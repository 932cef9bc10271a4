import { isUtf8 } from "node:buffer";
import type { FileChange, Scope } from "@cognition/contract";
import { type SnapshotStore, unifiedDiff } from "@cognition/thread";
import { toText } from "./held-folder.ts";
import type { PathChange } from "./path-change.ts";

/** Longer files are told of without their lines, and so are those that come after so much text in all. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_TEXT_LENGTH = 1024 * 1024;
const PORTION = 32;

/** Files and links that differ, with their lines where both sides are text. Folders only show by what is in them. */
export async function describeChanges(
  store: Pick<SnapshotStore, "readObjects">,
  scope: Scope,
  changes: readonly PathChange[],
): Promise<FileChange[]> {
  const files = changes.filter(({ before, after }) => isFile(before) || isFile(after));
  const described: FileChange[] = [];
  let length = 0;
  for (let i = 0; i < files.length; i += PORTION) {
    const portion = files.slice(i, i + PORTION);
    const contents =
      length < MAX_TEXT_LENGTH
        ? await store.readObjects(
            scope,
            portion.flatMap((change) =>
              [hashOf(change.before), hashOf(change.after)].filter((hash) => hash !== undefined),
            ),
          )
        : new Map<string, Uint8Array>();
    for (const change of portion) {
      const diff = length < MAX_TEXT_LENGTH ? diffOf(change, contents) : null;
      length += diff?.length ?? 0;
      described.push({ path: toText(change.path), change: kindOf(change), diff });
    }
  }
  return described;
}

function isFile(entry: PathChange["before"]): boolean {
  return entry !== null && entry.type !== "tree";
}

function hashOf(entry: PathChange["before"]): string | undefined {
  return entry && entry.type !== "tree" ? entry.hash : undefined;
}

function kindOf({ before, after }: PathChange): FileChange["change"] {
  if (!isFile(before)) return "added";
  return isFile(after) ? "modified" : "deleted";
}

function diffOf({ path, before, after }: PathChange, contents: ReadonlyMap<string, Uint8Array>): string | null {
  const [old, fresh] = [textOf(hashOf(before), contents), textOf(hashOf(after), contents)];
  if (old === undefined || fresh === undefined) return null;
  const name = toText(path);
  return unifiedDiff(old, fresh, isFile(before) ? `a/${name}` : "/dev/null", isFile(after) ? `b/${name}` : "/dev/null");
}

/** Empty for a side that isn't there; undefined for what is not text, or too long. */
function textOf(hash: string | undefined, contents: ReadonlyMap<string, Uint8Array>): string | undefined {
  if (hash === undefined) return "";
  const content = contents.get(hash);
  if (!content || content.length > MAX_FILE_BYTES || content.includes(0) || !isUtf8(content)) return undefined;
  return Buffer.from(content).toString();
}
