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

export function bytesOf(name: string, bytes: Buffer): unknown {
  if (name === "Buffer") return bytes;
  // A copy of its own: a Buffer may be a window into Node's shared pool.
  const { buffer } = new Uint8Array(bytes);
  if (name === "ArrayBuffer") return buffer;
  const View = VIEWS[name as keyof typeof VIEWS] as (new (buffer: ArrayBuffer) => unknown) | undefined;
  return View && new View(buffer);
}
