import { isDeepStrictEqual } from "node:util";

const VIEWS = {
  BigInt64Array,
  BigUint64Array,
  DataView,
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
};

/** Whether bytes of this class can be made again. */
export function isBytesName(name: string): boolean {
  return name === "Buffer" || name in VIEWS;
}

type Numbers = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => ArrayBufferView;

/**
 * Whether somebody gave it members besides its bytes. The engine lists these only after an index for each byte; compared with
 * another view of the same memory, which has none, it costs next to nothing.
 */
export function hasMembers(view: ArrayBufferView): boolean {
  const { buffer, byteOffset, byteLength } = view;
  const length = (view as { length?: number }).length ?? byteLength;
  const bare = Buffer.isBuffer(view)
    ? Buffer.from(buffer as ArrayBuffer, byteOffset, length)
    : new (view.constructor as Numbers)(buffer, byteOffset, length);
  return !isDeepStrictEqual(view, bare);
}

export function bytesOf(name: string, bytes: Buffer): unknown {
  if (name === "Buffer") return bytes;
  // A copy of its own: a Buffer may be a window into Node's shared pool.
  const { buffer } = new Uint8Array(bytes);
  if (name === "ArrayBuffer") return buffer;
  const View = VIEWS[name as keyof typeof VIEWS] as (new (buffer: ArrayBuffer) => unknown) | undefined;
  return View && new View(buffer);
}
