import { isAppError } from "@cognition/contract";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { createSummarizationMiddleware, type SandboxBackendProtocolV2 } from "deepagents";
import { countTokensApproximately } from "langchain";
import { createHistoryBackend } from "./history-backend.ts";
import { NOT_FOR_THE_STREAM } from "./model-events.ts";
import { currentRun } from "./run-scope.ts";

type Wrap = NonNullable<ReturnType<typeof createSummarizationMiddleware>["wrapModelCall"]>;
type Request = Parameters<Wrap>[0];

/** Of models that nobody has told it of, in tokens. */
const USUAL_WINDOW = 200_000;
/** How full the window may become, and how much is kept as it was said. */
const TRIGGER = { type: "fraction", value: 0.85 } as const;
const KEEP = { type: "fraction", value: 0.1 } as const;
/** Each leaves about a tenth of what was too long. */
const ATTEMPTS = 4;
/** Each sums up half as much. */
const SUMMARY_ATTEMPTS = 8;

/**
 * Deepagents' summaries of a conversation that outgrows its model, in the place of its own middleware of this name. That one
 * tells the summary as if it were the answer, and knows of a window that is smaller than it thought only from LangChain's own errors.
 */
export function createSummaries(backend: SandboxBackendProtocolV2, isRoot: boolean) {
  const { wrapModelCall, ...summaries } = createSummarizationMiddleware({
    backend: createHistoryBackend(backend),
    trigger: TRIGGER,
    keep: KEEP,
    truncateArgsSettings: { trigger: TRIGGER, keep: KEEP },
  });

  const sumUpUnlessShort: Wrap = (request, handler) =>
    fitsAnyway(request) ? handler(request) : (wrapModelCall as Wrap)(request, handler);

  const wrap: Wrap = async (request, handler) => {
    const model = request.model as BaseChatModel;
    const state = withName(request.state, isRoot);
    let window = model.profile.maxInputTokens ?? USUAL_WINDOW;
    let sumUp = sumUpUnlessShort;
    for (let attempt = 1; ; attempt++) {
      const asked = { ...request, state, model: inSilence(model, window) };
      // What was just asked is a part of the summary only where it does not fit either.
      const { answer, sent } = noting(handler, model, attempt < 3 ? questionIn(request) : []);
      try {
        return cutEarlier(await sumUp(asked, answer), sent.added);
      } catch (error) {
        if (attempt === ATTEMPTS || !isOverflow(error)) throw error;
        window = countTokensApproximately(sent.messages);
        sumUp = wrapModelCall as Wrap;
      }
    }
  };
  return { ...summaries, wrapModelCall: wrap };
}

/** The way to the model, and what went that way; the question too, where nothing but a summary would. */
function noting(handler: Parameters<Wrap>[1], model: Request["model"], question: BaseMessage[]) {
  const sent: { messages: BaseMessage[]; added: number } = { messages: [], added: 0 };
  const answer: typeof handler = (given) => {
    sent.added = given.messages.every(isSummary) ? question.length : 0;
    sent.messages = [...given.messages, ...question.slice(0, sent.added)];
    return handler({ ...given, model, messages: sent.messages });
  };
  return { answer, sent };
}

/**
 * By a rough count it is not half of what would have to be summed up, and nothing was yet. Deepagents' own counting writes out all
 * tools and the whole conversation, at each call.
 */
function fitsAnyway({ model, state, messages, systemMessage, tools }: Request): boolean {
  if (state._summarizationEvent) return false;
  const { maxInputTokens: window = 0 } = (model as BaseChatModel).profile;
  let tokens = countTokensApproximately([systemMessage]);
  for (const message of messages) tokens += tokensOf(message, () => countTokensApproximately([message]));
  for (const tool of tools) tokens += tokensOf(tool, () => countTokensApproximately([], [tool as never]));
  return tokens < (window * TRIGGER.value) / 2;
}

const counted = new WeakMap<object, number>();

function tokensOf(part: object, count: () => number): number {
  const known = counted.get(part);
  if (known !== undefined) return known;
  const tokens = count();
  counted.set(part, tokens);
  return tokens;
}

function questionIn({ messages }: Request): BaseMessage[] {
  return messages.slice(-1).filter((message) => HumanMessage.isInstance(message));
}

function isSummary({ additional_kwargs }: BaseMessage): boolean {
  return additional_kwargs["lc_source"] === "summarization";
}

/** Of an answer that comes with a new summary: so many messages less are part of it. */
function cutEarlier(answer: Awaited<ReturnType<Wrap>>, messages: number): typeof answer {
  if (messages === 0 || !isCommand(answer)) return answer;
  const { _summarizationEvent: event, ...update } = answer.update as { _summarizationEvent: { cutoffIndex: number } };
  const cutoffIndex = event.cutoffIndex - messages;
  return new Command({ update: { ...update, _summarizationEvent: { ...event, cutoffIndex } } }) as typeof answer;
}

/** What was summed up is kept in a file, by this name. The graph serves many threads, and several may share a folder. */
function withName(state: Request["state"], isRoot: boolean): Request["state"] {
  const name = isRoot ? currentRun().work.claimed.session.id : crypto.randomUUID();
  return { ...state, _summarizationSessionId: state._summarizationSessionId ?? name };
}

/** The model, as far as it is asked to sum up. */
function inSilence(model: BaseChatModel, maxInputTokens: number): Request["model"] {
  const invoke = (messages: BaseMessage[]) => summarize(model, messages);
  return { profile: { ...model.profile, maxInputTokens }, invoke } as unknown as Request["model"];
}

/** A conversation that is too long to be summed up loses its middle. */
async function summarize(model: BaseChatModel, [message]: BaseMessage[]): Promise<BaseMessage> {
  let text = message?.text ?? "";
  for (let attempt = 1; ; attempt++) {
    try {
      return await model.invoke([new HumanMessage(text)], { tags: [NOT_FOR_THE_STREAM] });
    } catch (error) {
      if (attempt === SUMMARY_ATTEMPTS || !isOverflow(error)) throw error;
      text = halved(text);
    }
  }
}

function halved(text: string): string {
  const end = Math.ceil(text.length / 4);
  return `${text.slice(0, end)}\n[…]\n${text.slice(-end)}`.toWellFormed();
}

function isOverflow(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (isAppError(at, "context_overflow")) return true;
  return false;
}
