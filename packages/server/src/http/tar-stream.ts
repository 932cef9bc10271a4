import { isAppError, type WorkspaceFile } from "@cognition/contract";
import type { OpenFile, SandboxFiles } from "../sandbox/sandbox.ts";

const BLOCK = 512;
const ZEROS = new Uint8Array(64 * 1024);
const encoder = new TextEncoder();
/** Of eleven octal digits. A larger one stands in a pax record. */
const MAX_SIZE = 8 ** 11 - 1;

/** The entries as a tar archive (ustar, with pax records for names and large sizes), read piece by piece. Links are left out. */
export function tarStream(
  files: Pick<SandboxFiles, "open">,
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

async function* tarParts(files: Pick<SandboxFiles, "open">, entries: readonly WorkspaceFile[]) {
  for (const entry of entries) {
    if (entry.type === "directory") yield entryHead(entry, { size: 0, executable: true });
    if (entry.type !== "file") continue;
    const file = await files.open(entry.path).catch(undefinedIfUnreadable);
    if (!file) continue;
    try {
      yield entryHead(entry, file);
      yield* contentOf(file);
    } finally {
      await file.close();
    }
  }
  yield new Uint8Array(2 * BLOCK);
}

/** As long as the head has said, also when the file became shorter meanwhile: the next entry must stand in its place. */
async function* contentOf(file: OpenFile): AsyncGenerator<Uint8Array> {
  let missing = Math.ceil(file.size / BLOCK) * BLOCK;
  for (let piece = await file.read(); piece; piece = await file.read()) {
    missing -= piece.length;
    yield piece;
  }
  for (; missing > 0; missing -= ZEROS.length) yield ZEROS.subarray(0, missing);
}

/** Hidden, closed to the server by its mode, deleted since it was listed, or no regular file any more. */
function undefinedIfUnreadable(error: unknown): undefined {
  if (!isAppError(error, "forbidden", "file_not_found", "validation_failed", "workspace_path_refused")) throw error;
}

function entryHead(
  { path, type, modified_at }: WorkspaceFile,
  { size, executable }: Pick<OpenFile, "size" | "executable">,
): Uint8Array {
  const name = type === "directory" ? `${path}/` : path;
  // From before 1970 there is no number for it.
  const mtime = Math.max(0, Math.floor(Date.parse(modified_at) / 1000));
  const fits = size <= MAX_SIZE;
  const own = header({
    ...{ name: ascii(name), mtime, executable },
    size: fits ? size : 0,
    type: type === "directory" ? "5" : "0",
  });
  const records = Buffer.concat([
    ...(ascii(name) === name ? [] : [paxRecord("path", name)]),
    ...(fits ? [] : [paxRecord("size", `${size}`)]),
  ]);
  if (records.length === 0) return own;
  const head = header({ name: "pax", size: records.length, mtime, executable: false, type: "x" });
  return Buffer.concat([head, padded(records), own]);
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

interface Head {
  name: string;
  size: number;
  mtime: number;
  executable: boolean;
  type: string;
}

function header({ name, size, mtime, executable, type }: Head): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(encoder.encode(text), at);
  put(0, name);
  put(100, executable ? "0000755\0" : "0000644\0");
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
