import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, LLMResult } from "@langchain/core/outputs";
import { type CallUsage, unfinishedIn } from "../model/usage.ts";
import type { RunWork } from "../run/executor.ts";
import { aboutAgent } from "./about-agent.ts";
import type { ModelHooks } from "./run-callbacks.ts";
import { textOf } from "./text-of.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** What one model call has said so far. */
interface Saying {
  message_id: string;
  about: { agent?: string };
  text: string;
  ended: boolean;
}

export interface ModelEvents {
  hooks: ModelHooks;
  /** The last text of the session's own agent, which no checkpoint may hold yet. */
  unfinished(): { message_id: string; text: string; ended: boolean } | undefined;
}

/** LangGraph's own tag for a model call that is nobody's business, such as one that classifies. */
export const NOT_FOR_THE_STREAM = "langsmith:nostream";

export interface ModelEventsOptions {
  work: RunWork;
  root_agent: string;
  usage: UsageMeter;
  /** What the call used, as the provider reported it, with its price. */
  usageOf(message: AIMessage): CallUsage | undefined;
}

/**
 * Turns what models say into events, from LangChain's callbacks: they come as it is said, where LangGraph's stream is
 * read later, when the step's checkpoint may already be committed.
 */
export function createModelEvents({ work, root_agent, usage, usageOf }: ModelEventsOptions): ModelEvents {
  const saying = new Map<string, Saying>();
  let last: Saying | undefined;
  const { log } = work;

  function tell(event: "token" | "reasoning", { message_id, about }: Saying, content: string) {
    if (content === "") return undefined;
    return log.stream(event, { message_id, ...about, content });
  }

  function count(used: CallUsage, said: Saying | undefined): void {
    usage.add(used);
    log.emit("usage", { ...usage.total(), ...said?.about });
  }

  const hooks: ModelHooks = {
    handleChatModelStart: (_llm, _messages, runId, _parent, _extra, tags, metadata) => {
      if (tags?.includes(NOT_FOR_THE_STREAM)) return;
      work.observer?.modelStarted(runId, metadata?.["lc_agent_name"] as string | undefined);
      const about = aboutAgent(metadata, root_agent);
      saying.set(runId, { message_id: `run-${runId}`, about, text: "", ended: false });
    },
    handleLLMNewToken: (token, _index, runId, _parent, _tags, fields) => {
      const chunk = (fields?.chunk as ChatGenerationChunk | undefined)?.message;
      for (const used of unfinishedIn(chunk)) count(used, saying.get(runId));
      const said = saying.get(runId);
      if (!said) return;
      // LangChain names the pieces that have no id; one that the provider gave is the message's, though few pieces have it.
      if (chunk?.id && !chunk.id.startsWith("run-")) said.message_id = chunk.id;
      const thought = chunk && tell("reasoning", said, reasoningOf(chunk));
      const content = chunk ? textOf(chunk.content) : token;
      if (content && !said.about.agent) last = said;
      said.text += content;
      return tell("token", said, content) ?? thought;
    },
    handleLLMEnd: (output, runId) => {
      log.release(); // the message itself is stored next, and must not be there without its tokens
      const said = saying.get(runId);
      saying.delete(runId);
      if (said) said.ended = true;
      const message = messageOf(output);
      const used = message && usageOf(message);
      if (said) work.observer?.modelEnded(runId, { usage: used });
      if (used) count(used, said);
    },
    handleLLMError: (error, runId) => {
      log.release();
      if (saying.has(runId)) work.observer?.modelEnded(runId, { error });
      saying.delete(runId);
    },
  };

  return {
    hooks,
    unfinished: () => (last && last.text !== "" ? last : undefined),
  };
}

function messageOf(output: LLMResult): AIMessage | undefined {
  const { message } = (output.generations[0]?.[0] ?? {}) as { message?: BaseMessage };
  return message && AIMessage.isInstance(message) ? message : undefined;
}

/** Thoughts are blocks of the content; servers of the OpenAI protocol have a field of their own for them. */
function reasoningOf({ content, additional_kwargs }: BaseMessage): string {
  const { reasoning_content } = additional_kwargs;
  if (typeof reasoning_content === "string") return reasoning_content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block) => {
      const { type, reasoning, thinking } = block as { type?: string; reasoning?: string; thinking?: string };
      return type === "reasoning" || type === "thinking" ? (reasoning ?? thinking ?? "") : "";
    })
    .join("");
}
