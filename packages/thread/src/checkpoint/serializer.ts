import { AppError } from "@cognition/contract";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { decodeValue } from "./decode.ts";
import { encodeValue } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true });

/** A value as bytes. Rejects what can't come back as it went in, naming `where` and the path to it. */
export function serialize(value: unknown, where: string): Uint8Array {
  return utf8.encode(JSON.stringify(encodeValue(value, where)));
}

export function deserialize(bytes: Uint8Array, where: string): unknown {
  return decodeValue(parseJson(bytes, where), where);
}

export function toBytes(json: JsonValue): Uint8Array {
  return utf8.encode(JSON.stringify(json));
}

export function parseJson(stored: Uint8Array | string, where: string): JsonValue {
  try {
    return JSON.parse(typeof stored === "string" ? stored : text.decode(stored));
  } catch (cause) {
    throw new AppError("corrupt_data", `${where} is not readable: ${(cause as Error).message}`, { cause });
  }
}

/** The same, in the shape that LangGraph's own savers take. */
export class StrictSerializer implements SerializerProtocol {
  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    return ["cognition", serialize(value, "value")];
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (type !== "cognition") throw new AppError("corrupt_data", `Not written by this serializer: type ${type}`);
    return deserialize(typeof data === "string" ? utf8.encode(data) : data, "value");
  }
}
