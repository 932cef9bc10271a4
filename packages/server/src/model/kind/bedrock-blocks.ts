import { type FitBlock, isTextBlock } from "../fit-messages.ts";
import { COMMON_IMAGES, readMedia, textIn } from "../media.ts";

const PDF = "application/pdf";
/** All that a document's name may have. */
const NOT_IN_NAMES = /[^A-Za-z0-9()[\]-]+/g;
/** Its own forms, which no other has. */
const OWN: ReadonlySet<string> = new Set(["image", "document", "video", "audio"]);

export const fitBedrockBlock: FitBlock = (block) => {
  if (isTextBlock(block) || (OWN.has(block.type) && typeof block[block.type] === "object")) return block;
  const media = readMedia(block);
  if (!media) return undefined;
  const { kind, mime, data, name } = media;
  const text = textIn(media);
  if (text !== undefined) return { type: "text", text };
  if (data === undefined) return undefined;
  const mime_type = mime ?? (kind === "image" ? "image/jpeg" : PDF);
  const form = { source_type: "base64", mime_type, data };
  if (kind === "image") return COMMON_IMAGES.has(mime_type) ? { type: "image", ...form } : undefined;
  if (kind !== "file" || mime_type !== PDF) return undefined;
  return { type: "file", ...form, metadata: { name: name?.replace(NOT_IN_NAMES, " ").trim() || "file" } };
};
