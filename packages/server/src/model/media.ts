import type { ContentBlock } from "@cognition/contract";

/** A picture, a sound or a file in a message, in whatever form its block came. It has data, a text, an address or a provider's own id of it. */
export interface Media {
  readonly kind: "image" | "audio" | "file";
  readonly mime: string | undefined;
  /** In base64. */
  readonly data?: string | undefined;
  readonly text?: string | undefined;
  readonly url?: string | undefined;
  readonly file_id?: string | undefined;
  readonly name?: string | undefined;
}

/** The pictures that every provider takes which takes any. */
export const COMMON_IMAGES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** What is called a picture or a PDF and is none: a page of an error, saved under the name of what should have come. */
export const NO_SUCH = "application/octet-stream";

/** How those begin that providers look into. */
const BEGINNINGS: readonly (readonly [mime: string, begins: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
  ["application/pdf", /^.{0,1019}%PDF-/s],
];
const BEGINNING_BYTES = 1_024;

type Fields = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, Media["kind"]>> = {
  image: "image",
  image_url: "image",
  input_image: "image",
  audio: "audio",
  input_audio: "audio",
  file: "file",
  document: "file",
  input_file: "file",
};
const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;

/** Reads the forms of OpenAI's two protocols, of Anthropic's and of LangChain's old and new blocks. Undefined where it is none of them. */
export function readMedia(block: ContentBlock): Media | undefined {
  const kind = Object.hasOwn(KINDS, block.type) ? KINDS[block.type] : undefined;
  if (!kind) return undefined;
  const fields = fieldsOf(block);
  const audioFormat = text(fields["format"]);
  const mime =
    text(fields["mimeType"]) ??
    text(fields["mime_type"]) ??
    text(fields["media_type"]) ??
    (audioFormat && `audio/${audioFormat}`);
  const name = nameOf({ ...block, ...fields });
  const place = placeOf(fields, mime);
  const type = place && typeOf({ kind, ...place });
  return place && { kind, ...place, mime: type, ...(name !== undefined && { name }) };
}

/**
 * Of what type it is, by how it begins. A picture of another type than it is said to be providers refuse, as they do what is
 * none at all, and with it every later request of the thread.
 */
function typeOf({ kind, mime, data }: Media): string | undefined {
  if (data === undefined || kind === "audio" || mime?.startsWith("text/")) return mime;
  const beginning = Buffer.from(data.slice(0, BEGINNING_BYTES * 2), "base64").toString("latin1");
  const [type] = BEGINNINGS.find(([, begins]) => begins.test(beginning)) ?? [];
  const isKnown = mime === undefined || BEGINNINGS.some(([known]) => known === mime);
  return type ?? (isKnown ? NO_SUCH : mime);
}

/** What a file of text says; undefined where it is another file, or says nothing. */
export function textIn({ kind, mime, data, text }: Media): string | undefined {
  if (kind !== "file" || !mime?.startsWith("text/")) return undefined;
  const said = text ?? (data && Buffer.from(data, "base64").toString());
  return said?.trim() ? said : undefined;
}

/** Where the block keeps what it holds: in itself, or one step down. */
function fieldsOf(block: ContentBlock): Fields {
  const { image_url, input_audio, file, source } = block;
  if (typeof image_url === "string") return { url: image_url };
  const inner = [image_url, input_audio, file, source].find((one) => typeof one === "object" && one !== null);
  return (inner as Fields | undefined) ?? block;
}

function placeOf(fields: Fields, mime: string | undefined): Omit<Media, "kind" | "name"> | undefined {
  const plain = fields["type"] === "text" || fields["source_type"] === "text";
  if (plain) {
    const held = text(fields["data"]) ?? text(fields["text"]);
    return held === undefined ? undefined : { mime: mime ?? "text/plain", text: held };
  }
  const bytes = fields["data"] instanceof Uint8Array ? Buffer.from(fields["data"]).toString("base64") : undefined;
  const data = bytes ?? text(fields["data"]);
  if (data !== undefined) return { mime, data };
  const url = text(fields["url"]) ?? text(fields["file_url"]) ?? text(fields["file_data"]);
  if (url !== undefined) return fromUrl(url, mime);
  const file_id =
    text(fields["file_id"]) ??
    text(fields["fileId"]) ??
    (fields["source_type"] === "id" ? text(fields["id"]) : undefined);
  return file_id === undefined ? undefined : { mime, file_id };
}

function fromUrl(url: string, mime: string | undefined): Omit<Media, "kind" | "name"> | undefined {
  const inline = DATA_URL.exec(url);
  if (inline) return { mime: inline[1] || mime, data: url.slice(inline[0].length) };
  return /^https?:$/.test(URL.parse(url)?.protocol ?? "") ? { mime, url } : undefined;
}

function nameOf(fields: Fields): string | undefined {
  const { filename, name, title } = (fields["metadata"] ?? {}) as Fields;
  return text(fields["filename"]) ?? text(fields["title"]) ?? text(filename) ?? text(name) ?? text(title);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
