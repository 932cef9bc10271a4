import { AppError, DEFAULT_MAX_OUTPUT_BYTES, MAX_URL_LENGTH } from "@cognition/contract";
import { z } from "zod";
import type { GuardedFetch, GuardedResponse } from "../outgoing/guarded-fetch.ts";
import { convertPage } from "./convert-page.ts";
import { defineTool } from "./define-tool.ts";
import { limitText } from "./limit-text.ts";
import type { ToolDefinition } from "./tool.ts";

const READABLE = /^(text\/|application\/(json|xml|xhtml\+xml|javascript|x-yaml|yaml)|[^;]+\+(json|xml))/i;
const HTML = /^(text\/html|application\/xhtml\+xml)/i;
const ERROR_TEXT_BYTES = 2000;

const SCHEMA = z.object({
  url: z.string().min(1).max(MAX_URL_LENGTH),
  format: z.enum(["markdown", "text", "html"]).default("markdown"),
});

export interface BrowserOptions {
  fetch: GuardedFetch;
  maxOutputBytes?: number;
}

export function createBrowserTool({
  fetch,
  maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES,
}: BrowserOptions): ToolDefinition {
  return defineTool({
    name: "browser",
    description: "Fetches a web page and gives it as markdown, text or html. Only public http and https addresses.",
    schema: SCHEMA,
    on_crash: "retry",
    effect: "network",
    async run({ url, format }, { signal }) {
      const accept = "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5";
      const response = await fetch(url, { signal, truncate: true, headers: { accept } });
      const type = response.headers["content-type"] ?? "text/html";
      if (!READABLE.test(type)) {
        throw new AppError(
          "tool_failed",
          `${response.url} is ${type}, ${response.body.length} bytes: only text can be read`,
        );
      }
      const text = await readable(response, type, format, signal);
      if (response.status >= 400) {
        throw new AppError(
          "tool_failed",
          `${response.url} answered ${response.status}: ${limitText(text, ERROR_TEXT_BYTES)}`,
        );
      }
      return limitText(text, maxOutputBytes);
    },
  }) as ToolDefinition;
}

async function readable(
  { url, body, truncated }: GuardedResponse,
  type: string,
  format: "markdown" | "text" | "html",
  signal: AbortSignal,
): Promise<string> {
  const text = decode(body, type);
  const cut = truncated ? "\n\n(The page is larger than the limit; this is its beginning.)" : "";
  if (!HTML.test(type) || format === "html") return text + cut;
  const { title, content } = await convertPage({ html: text, url, format }, { signal });
  return `${title === "" ? "" : `${title}\n`}${url}\n\n${content}${cut}`;
}

const BOMS: readonly (readonly [string, RegExp])[] = [
  ["utf-8", /^\xef\xbb\xbf/],
  ["utf-16le", /^\xff\xfe/],
  ["utf-16be", /^\xfe\xff/],
];
const DECLARED = /<meta[^>]+charset=["']?([\w-]+)|^\s*<\?xml[^>]+encoding=["']([\w-]+)/i;

/** By its byte order mark, as browsers do, else by the header, else by the page's own word, else UTF-8. */
function decode(body: Uint8Array, type: string): string {
  const start = Buffer.from(body.subarray(0, 1024)).toString("latin1");
  const [, meta, xml] = DECLARED.exec(start) ?? [];
  const marked = BOMS.find(([, mark]) => mark.test(start))?.[0];
  const label = marked ?? /charset="?([\w-]+)/i.exec(type)?.[1] ?? meta ?? xml ?? "utf-8";
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    // An encoding that nobody knows: most pages that claim one are UTF-8 all the same.
    return new TextDecoder().decode(body);
  }
}
