import { type FitBlock, isTextBlock } from "../fit-messages.ts";
import { readMedia, textIn } from "../media.ts";

const TAKEN: ReadonlySet<string> = new Set([
  ...["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"],
  ...["audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"],
]);
const USUAL = { image: "image/png", audio: "audio/mpeg", file: "application/pdf" } as const;

/** By its bytes: its own files alone have an address that it reads. In a tool's result they would be read letter by letter. */
export const fitGoogleBlock: FitBlock = (block, place) => {
  if (isTextBlock(block)) return block;
  if (place === "result") return undefined;
  // Its own form, which no other has.
  if (block.type === "media") return block;
  const media = readMedia(block);
  if (!media) return undefined;
  const text = textIn(media);
  if (text !== undefined) return { type: "text", text };
  const mimeType = media.mime ?? USUAL[media.kind];
  return media.data !== undefined && TAKEN.has(mimeType) ? { type: "media", mimeType, data: media.data } : undefined;
};
