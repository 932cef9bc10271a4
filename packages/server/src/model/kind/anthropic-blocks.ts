import type { ContentBlock } from "@cognition/contract";
import { type FitBlock, isTextBlock } from "../fit-messages.ts";
import { COMMON_IMAGES, type Media, readMedia } from "../media.ts";

/** Its own forms that no other has. Whoever made one knows what is taken. */
const OWN: ReadonlySet<string> = new Set(["search_result", "container_upload", "tool_result"]);

/** In Anthropic's own form: of some others its package sends two, of most it sends nothing and does not say so. */
export const fitAnthropicBlock: FitBlock = (block) => {
  if (isTextBlock(block) || OWN.has(block.type)) return block;
  const media = readMedia(block);
  const source = media && sourceOf(media);
  if (!media || !source) return undefined;
  const { cache_control } = block;
  const form: ContentBlock = {
    type: media.kind === "image" ? "image" : "document",
    source,
    ...(media.kind === "file" && media.name !== undefined && { title: media.name }),
    ...(cache_control != null && { cache_control }),
  };
  // Already so, with what else it may have.
  return block.type === form.type && "source" in block ? { ...block, ...form } : form;
};

function sourceOf({ kind, mime, data, text, url, file_id }: Media): object | undefined {
  if (kind === "audio") return undefined;
  if (url !== undefined) return { type: "url", url };
  if (file_id !== undefined) return { type: "file", file_id };
  if (kind === "image") {
    const media_type = mime ?? "image/jpeg";
    return data !== undefined && COMMON_IMAGES.has(media_type) ? { type: "base64", media_type, data } : undefined;
  }
  const type = mime ?? "application/pdf";
  if (type === "application/pdf" && data !== undefined) return { type: "base64", media_type: type, data };
  if (!type.startsWith("text/")) return undefined;
  return { type: "text", media_type: "text/plain", data: text ?? Buffer.from(data ?? "", "base64").toString() };
}
