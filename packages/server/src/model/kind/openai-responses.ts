import { ChatOpenAIResponses } from "@langchain/openai";

type Event = { type: string } & Record<string, unknown>;

/**
 * The Responses API, which OpenAI's newer models are asked by. Its package passes over what is no part of an answer: that it
 * failed, and a refusal in words.
 */
export class OpenAIResponses extends ChatOpenAIResponses {
  // For streams as for whole answers, which have types of their own; both are asked for here.
  override async completionWithRetry(...args: never[]): Promise<never> {
    const answer: object = await super.completionWithRetry(
      ...(args as unknown as Parameters<ChatOpenAIResponses["completionWithRetry"]>),
    );
    return (Symbol.asyncIterator in answer ? told(answer as AsyncIterable<Event>) : answer) as never;
  }
}

/** Told by the provider in the middle of its stream, which had begun as one of an answer. */
class AnswerFailed extends Error {
  override readonly name = "AnswerFailed";
}

async function* told(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    if (event.type === "response.failed") throw new AnswerFailed(reasonIn(event));
    if (event.type === "response.refusal.done") continue; // its words have been told
    yield event.type === "response.refusal.delta" ? { ...event, type: "response.output_text.delta" } : event;
  }
}

function reasonIn({ response }: Event): string {
  const { error } = (response ?? {}) as { error?: { code?: string; message?: string } | null };
  return error?.message || error?.code || "it gave no reason";
}
