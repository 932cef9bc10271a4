import { AppError, type JsonObject } from "@cognition/contract";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { compileJsonSchema } from "../tool/json-schema.ts";
import type { ToolDefinition } from "../tool/tool.ts";
import type { Caller } from "./journal-events.ts";
import { currentRun } from "./run-scope.ts";

export const RESPONSE_TOOL = "structured_response";

/** What every provider's package understands; the types name only OpenAI's word for it. */
const MUST_CALL = "any" as "required";

/** How often a model may give something else than what was asked, in one turn. */
const MAX_TRIES = 3;

/**
 * The tool through which an agent with a `response_format` gives its answer: any model that can call tools can use it, and
 * the answer is in the conversation, where a crash leaves it. The turn ends with it.
 */
export function createResponseTool(format: JsonObject): ToolDefinition {
  const check = compileJsonSchema(format);
  return {
    name: RESPONSE_TOOL,
    description: "Gives the final answer, in the form that its parameters have. Call it once, when the work is done.",
    schema: structuredClone(format), // LangChain writes into it, and definitions are frozen
    on_crash: "retry",
    effect: "read",
    run: (args) => {
      const wrong = check(args);
      if (wrong) throw new AppError("validation_failed", `the answer does not fit: ${wrong}`);
      return JSON.stringify(args);
    },
  };
}

/** Has the model answer through the tool, and through nothing else; a few times, then the run ends with a clear error. */
export function createResponseMiddleware({ agent_name, isRoot }: Caller) {
  return createMiddleware({
    name: "structured-response",
    // Whoever delegates is given the delegate's last word, and a tool's result is nobody's word.
    ...(isRoot ? {} : { afterAgent: ({ messages }) => ({ messages: lastWord(messages as BaseMessage[]) }) }),
    wrapModelCall: async (request, handler) => {
      const failed = triesUsed(request.messages);
      // Last of all: models that must call some tool are made to look at the last one as the way out.
      const tools = [...request.tools].sort((a, b) => Number(isResponse(a)) - Number(isResponse(b)));
      let messages = request.messages;
      for (let tries = failed; tries < MAX_TRIES; tries++) {
        const answer = (await handler({ ...request, messages, tools, toolChoice: MUST_CALL })) as AIMessage;
        if (!AIMessage.isInstance(answer) || (answer.tool_calls?.length ?? 0) > 0) return answer;
        messages = [...messages, answer, new HumanMessage(`Give this as your answer by calling ${RESPONSE_TOOL}.`)];
      }
      throw new AppError(
        "response_format_failed",
        `The model of the agent ${agent_name} did not give its answer in the form that was asked for, in ${MAX_TRIES} tries. ` +
          "What was done before is kept; try another model, or a simpler response_format.",
      );
    },
  });
}

function lastWord(messages: readonly BaseMessage[]): AIMessage[] {
  const answer = structuredResponse(messages);
  return answer === undefined ? [] : [new AIMessage(JSON.stringify(answer))];
}

function isResponse(tool: unknown): boolean {
  return (tool as { name?: string }).name === RESPONSE_TOOL;
}

function sinceRequest(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.slice(messages.findLastIndex((message) => HumanMessage.isInstance(message)) + 1);
}

function responses(messages: readonly BaseMessage[]): ToolMessage[] {
  return sinceRequest(messages).filter(
    (message): message is ToolMessage => ToolMessage.isInstance(message) && message.name === RESPONSE_TOOL,
  );
}

/** A run that was given up for it and is resumed, with another model perhaps, has all of them again. */
function triesUsed(messages: readonly BaseMessage[]): number {
  const { unfit } = currentRun();
  const failed = responses(messages).filter(({ status }) => status === "error").length;
  const request = messages.findLast((message) => HumanMessage.isInstance(message))?.id ?? "";
  const before = unfit.get(request) ?? (failed >= MAX_TRIES ? failed : 0);
  unfit.set(request, before);
  return failed - before;
}

/** The answer of the turn that the conversation ends with. */
export function structuredResponse(messages: readonly BaseMessage[] = []): unknown {
  const given = responses(messages).findLast(({ status }) => status !== "error");
  return given ? JSON.parse(given.text) : undefined;
}
