import type { ProviderKind } from "../provider-kind.ts";
import { commonFields } from "./common-fields.ts";
import { fitGoogleBlock } from "./google-blocks.ts";
import { loadPackage } from "./optional-package.ts";

export const googleKind: ProviderKind = {
  name: "google",
  defaultUrl: "https://generativelanguage.googleapis.com",
  defaultKeyEnv: "GOOGLE_API_KEY",
  async load(fields) {
    const { ChatGoogleGenerativeAI } = await loadPackage(
      "google",
      "@langchain/google-genai",
      () => import("@langchain/google-genai"),
    );
    const chat = new ChatGoogleGenerativeAI({
      ...commonFields(fields, "maxOutputTokens"),
      apiKey: fields.api_key ?? "none",
      ...(fields.base_url && { baseUrl: fields.base_url }),
    });
    standBetween(chat.client);
    return chat;
  },
  endOf: ({ generationInfo }) => {
    const reason: unknown = generationInfo?.["finishReason"];
    return reason == null ? undefined : String(reason).toLowerCase();
  },
  fitBlock: fitGoogleBlock,
};

interface Request {
  tools?: readonly { functionDeclarations?: readonly { parameters?: unknown }[] }[];
}

/** A piece of its answer, as far as it is looked at here. */
interface Piece {
  candidates?: { content?: unknown }[];
  promptFeedback?: { blockReason?: string };
  usageMetadata?: { candidatesTokenCount?: number; thoughtsTokenCount?: number };
}

/** What the package asks for its answers. */
export interface GoogleClient {
  generateContentStream(
    request: Request,
    options?: unknown,
  ): Promise<{ stream: AsyncIterable<Piece>; response: Promise<unknown> }>;
}

function standBetween(client: GoogleClient): void {
  const ask = client.generateContentStream.bind(client);
  client.generateContentStream = async (request, options) => {
    const { stream, response } = await ask(withJsonSchemas(request), options);
    // The answer is read twice, and nobody waits for the second: its failure, be it an abort, would end the process.
    response.catch(() => undefined);
    return { stream: inFull(stream), response };
  };
}

/**
 * Tools with their schemas where Gemini takes any. Where the package puts them it takes some keywords of OpenAPI's alone, and one
 * other (`exclusiveMinimum`, two types of one value) costs the whole request: no agent with `grep` could be asked anything.
 */
function withJsonSchemas({ tools, ...request }: Request): Request {
  const declare = ({ parameters, ...rest }: { parameters?: unknown }) =>
    parameters === undefined ? rest : { ...rest, parametersJsonSchema: parameters };
  return {
    ...request,
    ...(tools && {
      tools: tools.map(({ functionDeclarations, ...tool }) =>
        functionDeclarations ? { ...tool, functionDeclarations: functionDeclarations.map(declare) } : tool,
      ),
    }),
  };
}

/** With what the package would pass over: why there is no answer, and thoughts, which are paid for as output. */
async function* inFull(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    const finishReason = piece.promptFeedback?.blockReason;
    if (finishReason !== undefined) piece.candidates ??= [{ finishReason } as object];
    // One without content is dropped, and its reason with it.
    for (const candidate of piece.candidates ?? []) candidate.content ??= { role: "model", parts: [] };
    const { usageMetadata: usage } = piece;
    if (usage?.thoughtsTokenCount)
      usage.candidatesTokenCount = (usage.candidatesTokenCount ?? 0) + usage.thoughtsTokenCount;
    yield piece;
  }
}
