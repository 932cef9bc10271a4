import { z } from "zod";
import { isJsonObject, isShallow, passThrough, tooDeep } from "./json.ts";
import { DEFAULT_MAX_CONTENT_BYTES, MAX_CONTENT_BLOCKS } from "./limits.ts";
import { exceedsBytes } from "./text.ts";

export type ContentBlock = { type: string; [field: string]: unknown };

function isBlock(value: unknown): boolean {
  return isJsonObject(value) && typeof value.type === "string" && value.type !== "";
}

/** What a block holds besides its type is between the agent and its model. */
export const ContentBlock = passThrough<ContentBlock>(
  z
    .unknown()
    .refine(isBlock, { error: "must be an object with a type", abort: true })
    .meta({ type: "object", properties: { type: { type: "string" } }, required: ["type"] }),
);

const wrongShape = { error: "content must be a string or an array of blocks, each an object with a type" };
const tooMany = { error: `content has more than the limit of ${MAX_CONTENT_BLOCKS} blocks`, abort: true };

export const Content = z.union([z.string(), z.array(ContentBlock)], wrongShape);
export type Content = z.infer<typeof Content>;

/** Content as a caller may send it. A server with another limit builds its own: `SendMessage.extend({ content })`. */
export function messageContent(maxBytes: number) {
  const tooLarge = {
    error: `content is larger than the limit of ${maxBytes} bytes`,
    params: { code: "content_too_large", limit: "content", max: maxBytes },
  };
  // Limits stand outside the union: inside, zod reports only that no branch fitted, not which limit was passed.
  return Content.refine((value) => value.length > 0, { error: "content must not be empty" })
    .refine((value) => typeof value === "string" || value.length <= MAX_CONTENT_BLOCKS, tooMany)
    .refine(isShallow, tooDeep)
    .refine((value) => !exceedsBytes(typeof value === "string" ? value : JSON.stringify(value), maxBytes), tooLarge);
}

export const ContentInput = messageContent(DEFAULT_MAX_CONTENT_BYTES);
