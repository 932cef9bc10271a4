import { isAppError, type WorkspaceFile } from "@cognition/contract";
import type { SandboxFiles } from "../sandbox/sandbox.ts";

const BLOCK = 512;
const encoder = new TextEncoder();

/** The entries as a tar archive (ustar, with pax records for names), read one file at a time. Links are left out. */
export function tarStream(
  files: Pick<SandboxFiles, "read">,
  entries: readonly WorkspaceFile[],
): ReadableStream<Uint8Array> {
  const parts = tarParts(files, entries);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

async function* tarParts(files: Pick<SandboxFiles, "read">, entries: readonly WorkspaceFile[]) {
  for (const entry of entries) {
    if (entry.type === "directory") yield entryHead(entry, 0);
    if (entry.type !== "file") continue;
    const content = await files.read(entry.path).catch(undefinedIfUnreadable);
    if (!content) continue;
    yield entryHead(entry, content.length);
    yield padded(content);
  }
  yield new Uint8Array(2 * BLOCK);
}

/** Hidden, deleted since it was listed, or larger than a file may be read. */
function undefinedIfUnreadable(error: unknown): undefined {
  if (!isAppError(error, "forbidden", "file_not_found", "content_too_large")) throw error;
}

function entryHead({ path, type, modified_at }: WorkspaceFile, size: number): Uint8Array {
  const name = type === "directory" ? `${path}/` : path;
  const mtime = Math.floor(Date.parse(modified_at) / 1000);
  const own = header({ name: ascii(name), size, mtime, type: type === "directory" ? "5" : "0" });
  if (ascii(name) === name) return own;
  const record = padded(paxRecord("path", name));
  const length = paxRecord("path", name).length;
  return Buffer.concat([header({ name: "pax", size: length, mtime, type: "x" }), record, own]);
}

/** What a reader that knows no pax sees: short, and without odd characters. */
function ascii(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]/g, "_").slice(0, 100);
}

function paxRecord(key: string, value: string): Uint8Array {
  const rest = encoder.encode(` ${key}=${value}\n`);
  // The length counts its own digits.
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([encoder.encode(String(length)), rest]);
}

function header({ name, size, mtime, type }: { name: string; size: number; mtime: number; type: string }): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(encoder.encode(text), at);
  put(0, name);
  put(100, type === "5" ? "0000755\0" : "0000644\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, `${mtime.toString(8).padStart(11, "0")}\0`);
  put(148, "        ");
  put(156, type);
  put(257, "ustar\x0000");
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}

function padded(content: Uint8Array): Uint8Array {
  const rest = content.length % BLOCK;
  return rest === 0 ? content : Buffer.concat([content, new Uint8Array(BLOCK - rest)]);
}
