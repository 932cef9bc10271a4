import { ChatOpenAIResponses } from "@langchain/openai";

type Event = { type: string } & Record<string, unknown>;

interface Request {
  readonly input?: readonly Item[];
  readonly include?: readonly string[];
  readonly store?: boolean;
}
type Item = { readonly type?: string } & Record<string, unknown>;

/** With it a thought comes whole, though nobody but OpenAI can read it, and not as the name of one that is kept there for a month. */
const WHOLE_THOUGHTS = "reasoning.encrypted_content";

/**
 * The Responses API, which OpenAI's newer models are asked by. A thread holds all that it is asked with: nothing of it is kept there.
 * Its package passes over what is no part of an answer: that it failed, and a refusal in words.
 */
export class OpenAIResponses extends ChatOpenAIResponses {
  /** The package drops the word for a call that must be made, and the agent's form would be asked for in vain. */
  override invocationParams(options?: this["ParsedCallOptions"]): ReturnType<ChatOpenAIResponses["invocationParams"]> {
    const params = super.invocationParams(options);
    const { tool_choice } = options ?? {};
    return tool_choice === "any" || tool_choice === "required" ? { ...params, tool_choice: "required" } : params;
  }

  // For streams as for whole answers, which have types of their own; both are asked for here.
  override async completionWithRetry(...[request, options]: unknown[]): Promise<never> {
    const ask = (asked: Request): Promise<object> => super.completionWithRetry(asked as never, options as never);
    const stateless = { ...(request as Request), store: false };
    const answer = await ask({ ...stateless, include: [WHOLE_THOUGHTS] }).catch((error: unknown) => {
      if (!isOfThoughts(error)) throw error;
      return ask(withoutThoughts(stateless));
    });
    return (Symbol.asyncIterator in answer ? told(answer as AsyncIterable<Event>) : answer) as never;
  }
}

/** What it does not know of its own thoughts: of another account, after a month where they were kept there; or it gives none. */
function isOfThoughts(error: unknown): boolean {
  const { status, message } = error as { status?: unknown; message?: unknown };
  return (status === 400 || status === 404) && /\brs_\w|encrypted[ _]content/i.test(String(message));
}

/** Without names too: what was said and called is not to be looked for beside the thoughts that led to it. */
function withoutThoughts({ input = [], ...request }: Request): Request {
  const items = input.filter(({ type }) => type !== "reasoning");
  return { ...request, input: items.map(({ id: _id, status: _status, ...item }) => item) };
}

/** Told by the provider in the middle of its stream, which had begun as one of an answer. */
class AnswerFailed extends Error {
  override readonly name = "AnswerFailed";
}

async function* told(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    if (event.type === "response.failed") throw new AnswerFailed(reasonIn(event));
    if (event.type === "response.refusal.done") continue; // its words have been told
    if (event.type === "response.refusal.delta") yield { ...event, type: "response.output_text.delta" };
    else yield ENDS.has(event.type) ? withoutRequest(event) : event;
  }
}

const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);

/** The whole request comes back with its answer, each tool with its schema: every message of the thread would have it. */
function withoutRequest(event: Event): Event {
  const { id, model, status, incomplete_details, usage, output } = (event["response"] ?? {}) as Record<string, unknown>;
  return { ...event, response: { id, model, status, incomplete_details, usage, output } };
}

function reasonIn({ response }: Event): string {
  const { error } = (response ?? {}) as { error?: { code?: string; message?: string } | null };
  return error?.message || error?.code || "it gave no reason";
}
