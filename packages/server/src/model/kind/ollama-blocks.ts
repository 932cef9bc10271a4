import { type FitBlock, isTextBlock } from "../fit-messages.ts";
import { readMedia, textIn } from "../media.ts";

/** Pictures by their bytes; a block of any other kind its package refuses, and with it the whole conversation. */
export const fitOllamaBlock: FitBlock = (block, place) => {
  if (isTextBlock(block)) return block;
  const media = place === "result" ? undefined : readMedia(block);
  const text = media && textIn(media);
  if (text !== undefined) return { type: "text", text };
  if (media?.kind !== "image" || media.data === undefined) return undefined;
  return { type: "image_url", image_url: { url: `data:${media.mime ?? "image/png"};base64,${media.data}` } };
};
