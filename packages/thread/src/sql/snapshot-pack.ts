import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { AppError } from "@cognition/contract";
import type { NewSnapshotObject } from "../snapshot-store.ts";

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Small objects are kept together up to this size: one row and one compression for many of them. */
const PACK_BYTES = 256 * 1024;
/** Compression that saves less than this isn't worth its undoing. */
const WORTHWHILE = 0.95;

export interface PackedObject {
  object: NewSnapshotObject;
  start: number;
}

export interface Pack {
  encoding: "plain" | "deflate";
  /** Before compression. */
  size: number;
  content: Uint8Array;
  objects: PackedObject[];
}

/** In the order given: files of one folder lie next to each other, and compress as one. */
export async function packObjects(objects: readonly NewSnapshotObject[]): Promise<Pack[]> {
  const packs: NewSnapshotObject[][] = [];
  let room = 0;
  for (const object of objects) {
    const { length } = object.content;
    if (packs.length === 0 || length > room) {
      packs.push([]);
      room = PACK_BYTES;
    }
    packs.at(-1)?.push(object);
    room -= length;
  }
  return Promise.all(packs.map(pack));
}

async function pack(objects: readonly NewSnapshotObject[]): Promise<Pack> {
  let start = 0;
  const placed = objects.map((object) => {
    const at = { object, start };
    start += object.content.length;
    return at;
  });
  const plain = Buffer.concat(objects.map(({ content }) => content));
  const deflated = await deflate(plain, { level: 6 });
  const pays = deflated.length < plain.length * WORTHWHILE;
  const content = pays ? deflated : plain;
  return { encoding: pays ? "deflate" : "plain", size: plain.length, content, objects: placed };
}

export async function unpack(encoding: string, content: Uint8Array): Promise<Uint8Array> {
  if (encoding === "plain") return content;
  try {
    return await inflate(content);
  } catch (cause) {
    throw new AppError("corrupt_data", "Stored files of a workspace can't be unpacked", { cause });
  }
}
