import { inspect } from "node:util";
import { ContentBlock, isJsonObject } from "@cognition/contract";
import { serialize } from "@cognition/thread";
import { readMedia } from "../model/media.ts";
import { limitContent } from "../tool/limit-text.ts";
import type { ToolOutput } from "../tool/tool.ts";
import { jsonCopy } from "./json-copy.ts";

/** No model reads so much, and of some more each run would keep the others waiting while it is stored and sent. */
export const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

export interface FinishedTool {
  output: string | ContentBlock[];
  exit_code: number | null;
  artifact: unknown;
}

/**
 * Every form a tool may answer in as one. Never throws: the tool has run, and an answer in another form (undefined, a
 * number, an object of its own) must not turn what took place into an error; it becomes JSON. The same goes for what no
 * thread can keep (a function, an instance of a class): the model would do again what is done.
 */
export function toFinishedTool(result: unknown): FinishedTool {
  if (isOutput(result)) {
    const { output, exit_code = null, artifact } = result;
    const code = Number.isSafeInteger(exit_code) ? exit_code : null;
    return {
      output: keptContent(output),
      exit_code: code,
      artifact: canBeKept(artifact) ? artifact : asText(artifact),
    };
  }
  const output = keptContent(isContent(result) ? result : asText(result));
  return { output, exit_code: null, artifact: undefined };
}

function isOutput(value: unknown): value is ToolOutput {
  return isJsonObject(value) && isContent(value["output"]);
}

function isContent(value: unknown): value is string | ContentBlock[] {
  if (typeof value === "string") return true;
  return Array.isArray(value) && value.length > 0 && value.every((block) => ContentBlock.safeParse(block).success);
}

function keptContent(content: string | ContentBlock[]): string | ContentBlock[] {
  const kept = typeof content === "string" || canBeKept(content) ? content : asText(content);
  const limited = limitContent(kept, MAX_OUTPUT_BYTES);
  return typeof limited === "string" ? limited : limited.map(smallEnough);
}

/** A picture that a provider finds too large it refuses with every later request of the thread. */
function smallEnough(block: ContentBlock): ContentBlock {
  const { kind, mime, data = "" } = readMedia(block) ?? {};
  if (data.length <= MAX_OUTPUT_BYTES) return block;
  const what = mime === undefined ? kind : `${kind} (${mime})`;
  const text = `(left out: one ${what} of ${data.length} bytes in base64, of which a thread takes ${MAX_OUTPUT_BYTES})`;
  return { type: "text", text };
}

function canBeKept(value: unknown): boolean {
  if (value === undefined) return true;
  try {
    serialize(value, "The output of a tool");
    return true;
  } catch {
    return false; // it is kept as a text instead
  }
}

function asText(value: unknown): string {
  if (value === undefined) return "";
  try {
    const copy = jsonCopy(value, "The output of a tool");
    return typeof copy === "string" ? copy : (JSON.stringify(copy) ?? shown(value));
  } catch {
    // A cycle: any text is better than an error about a call that worked.
    return shown(value);
  }
}

function shown(value: unknown): string {
  return inspect(value, { customInspect: false });
}
