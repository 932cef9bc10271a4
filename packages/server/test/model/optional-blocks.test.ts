import type { ContentBlock } from "@cognition/contract";
import { AIMessage, HumanMessage, type MessageContent, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { fitMessages } from "../../src/model/fit-messages.ts";
import { bedrockKind } from "../../src/model/kind/bedrock-kind.ts";
import { googleKind } from "../../src/model/kind/google-kind.ts";
import { ollamaKind } from "../../src/model/kind/ollama-kind.ts";
import type { ProviderKind } from "../../src/model/provider-kind.ts";

describe("what users and tools give is sent in a form that the package takes, and else in words", () => {
  const data = "iVBORw0KGgo=";
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const page = "JVBERi0xLjQ=";
  const pdf = { type: "input_file", filename: "my report.pdf", file_data: `data:application/pdf;base64,${page}` };
  const text = { type: "file", mimeType: "text/plain", data: Buffer.from("Grüße").toString("base64") };
  const sound = { type: "input_audio", input_audio: { format: "wav", data } };
  const address = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
  const inWords = { type: "text", text: expect.stringContaining("does not take") };
  const said = { type: "text", text: "Grüße" };

  function sent(kind: ProviderKind, content: ContentBlock[]): { said: MessageContent; result: MessageContent } {
    const call = { id: "c", name: "t", args: {} };
    const messages = [
      new HumanMessage({ content: content as never }),
      new AIMessage({ content: "", tool_calls: [call] }),
      new ToolMessage({ content: content as never, tool_call_id: "c" }),
    ];
    const [human, , result] = fitMessages(messages, { id: "p", provider: kind.name }, kind.fitBlock);
    return { said: human?.content ?? "", result: result?.content ?? "" };
  }

  test("to Ollama", () => {
    const { said: human, result } = sent(ollamaKind, [image, pdf, text, sound, address]);
    const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } };
    expect(human).toEqual([picture, inWords, said, inWords, inWords]);
    expect(result).toEqual([inWords, inWords, inWords, inWords, inWords]);
  });

  test("to Google", () => {
    const own = { type: "media", mimeType: "video/mp4", fileUri: "https://generativelanguage.googleapis.com/f/1" };
    const { said: human, result } = sent(googleKind, [image, pdf, text, sound, address, own]);
    const media = (mimeType: string, given = data) => ({ type: "media", mimeType, data: given });
    expect(human).toEqual([media("image/png"), media("application/pdf", page), said, media("audio/wav"), inWords, own]);
    expect(result).toEqual([inWords, inWords, inWords, inWords, inWords, inWords]);
  });

  test("to Bedrock, a document by a name that it takes", () => {
    const own = { type: "image", image: { format: "png", source: { bytes: new Uint8Array(1) } } };
    const { said: human, result } = sent(bedrockKind, [image, pdf, text, sound, address, own]);
    const form = { source_type: "base64", data };
    const all = [
      { type: "image", ...form, mime_type: "image/png" },
      { type: "file", ...form, data: page, mime_type: "application/pdf", metadata: { name: "my report pdf" } },
      ...[said, inWords, inWords, own],
    ];
    expect(human).toEqual(all);
    expect(result).toEqual(all);
  });
});
