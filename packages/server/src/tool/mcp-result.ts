import { AppError, type ContentBlock, DEFAULT_MAX_OUTPUT_BYTES } from "@cognition/contract";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { limitContent, limitText } from "./limit-text.ts";
import type { ToolOutput } from "./tool.ts";

type Part = CallToolResult["content"][number];

/** What a server answered as a tool's output: text where it is only text, else blocks. Throws what it calls an error. */
export function toToolOutput(tool: string, result: CallToolResult): ToolOutput {
  const blocks = result.content.map(toBlock);
  const text = blocks.every((block) => block.type === "text")
    ? blocks.map((block) => String(block["text"])).join("\n")
    : undefined;
  if (result.isError) {
    throw new AppError(
      "tool_failed",
      limitText(text ?? JSON.stringify(result.content), DEFAULT_MAX_OUTPUT_BYTES) || `${tool} failed`,
    );
  }
  const structured = result.structuredContent;
  const said = text === "" && structured !== undefined ? JSON.stringify(structured) : text;
  const output = limitContent(said ?? blocks, DEFAULT_MAX_OUTPUT_BYTES);
  return structured === undefined ? { output } : { output, artifact: structured };
}

function toBlock(part: Part): ContentBlock {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
    case "audio":
      return { type: part.type, mimeType: part.mimeType, data: part.data };
    case "resource_link":
      return { type: "text", text: `${part.name}: ${part.uri}${part.description ? ` (${part.description})` : ""}` };
    case "resource": {
      const { resource } = part;
      if ("text" in resource) return { type: "text", text: resource.text };
      return { type: "file", mimeType: resource.mimeType ?? "application/octet-stream", data: resource.blob };
    }
  }
}
