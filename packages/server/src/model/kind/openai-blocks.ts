import type { ContentBlock } from "@cognition/contract";
import { type FitBlock, isTextBlock } from "../fit-messages.ts";
import { COMMON_IMAGES, type Media, NO_SUCH, readMedia, textIn } from "../media.ts";

const PDF = "application/pdf";
const SOUNDS: Readonly<Record<string, string>> = {
  "audio/wav": "audio/wav",
  "audio/x-wav": "audio/wav",
  "audio/mp3": "audio/mp3",
  "audio/mpeg": "audio/mp3",
};

export const fitOpenAIBlock: FitBlock = (block, place) => {
  if (isTextBlock(block)) return plainText(block);
  // Chat Completions has nothing else for a tool's result.
  return place === "result" ? undefined : fitMedia(block);
};

/** As above for what all servers of the protocol know; each may take more, and pictures in a tool's result. */
export const fitCompatibleBlock: FitBlock = (block, place) => {
  if (isTextBlock(block)) return block;
  if (place === "result") return block.type === "image_url" ? fitMedia(block) : undefined;
  return block.type === "text" ? undefined : (fitMedia(block) ?? (readMedia(block) ? undefined : block));
};

/** Others have more in a block of text (Anthropic's mark for its cache), and OpenAI refuses a field that it does not know. */
function plainText(block: ContentBlock): ContentBlock {
  return "cache_control" in block || "citations" in block ? { type: "text", text: block["text"] } : block;
}

/** In the forms that its package knows for both of OpenAI's protocols. */
function fitMedia(block: ContentBlock): ContentBlock | undefined {
  const media = readMedia(block);
  if (!media) return undefined;
  if (media.kind === "image") return imageOf(media, block);
  if (media.kind === "audio") return soundOf(media);
  return fileOf(media, "file" in block);
}

function imageOf(
  { mime = "image/jpeg", data, url }: Media,
  { type, image_url }: ContentBlock,
): ContentBlock | undefined {
  if (url === undefined && (data === undefined || !COMMON_IMAGES.has(mime))) return undefined;
  // With what else its own form has. Some give the address where the protocol has an object with it.
  const own = type === "image_url" && typeof image_url === "object" ? image_url : {};
  return { type: "image_url", image_url: { ...own, url: url ?? `data:${mime};base64,${data}` } };
}

function soundOf({ mime = "", data }: Media): ContentBlock | undefined {
  const mime_type = Object.hasOwn(SOUNDS, mime) ? SOUNDS[mime] : undefined;
  return data === undefined || !mime_type ? undefined : { type: "audio", source_type: "base64", mime_type, data };
}

/** Of other kinds only PDF is taken everywhere; `own`: who uses OpenAI's own form knows what the model takes. */
function fileOf(media: Media, own: boolean): ContentBlock | undefined {
  const { mime = PDF, data, file_id, name } = media;
  if (file_id !== undefined) return { type: "file", source_type: "id", id: file_id };
  const text = own ? undefined : textIn(media);
  if (text !== undefined) return { type: "text", text };
  if (data === undefined || mime === NO_SUCH || (mime !== PDF && !own)) return undefined;
  const metadata = { filename: name ?? "file.pdf" };
  return { type: "file", source_type: "base64", mime_type: mime, data, metadata };
}
