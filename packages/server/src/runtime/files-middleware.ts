import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { createFilesystemMiddleware, type SandboxBackendProtocolV2 } from "deepagents";
import { currentRun } from "./run-scope.ts";

/** In characters. What a user says beyond that is shown to the model in part, and as a whole in a file. */
const LONGEST_MESSAGE = 200_000;
/** How deepagents marks a message whose whole text is in a file, for itself to shorten it. */
const KEPT_IN = "lc_evicted_to";

/**
 * Deepagents' own file tools, in the place of its own middleware of this name. That one puts a step of the graph before each
 * run to look whether the message is too long for a model; this one looks when the model is called. `execute` is what models
 * are told of that tool.
 */
export function createFilesMiddleware(backend: SandboxBackendProtocolV2, execute: string) {
  const customToolDescriptions = { execute };
  const { beforeAgent: _, wrapModelCall, ...files } = createFilesystemMiddleware({ backend, customToolDescriptions });
  type Wrap = NonNullable<typeof wrapModelCall>;
  const wrap: Wrap = async (request, handler) => {
    // Of a long conversation with none, a promise for each message would take longer than all else that is done here.
    if (!request.messages.some(isTooLong)) return (wrapModelCall as Wrap)(request, handler);
    const messages = await Promise.all(request.messages.map((message) => keptInFile(backend, message)));
    return (wrapModelCall as Wrap)({ ...request, messages }, handler);
  };
  return { ...files, wrapModelCall: wrap };
}

function isTooLong(message: BaseMessage): message is HumanMessage {
  return HumanMessage.isInstance(message) && message.text.length > LONGEST_MESSAGE;
}

/** Marked, if it is too long and its text could be written. */
async function keptInFile(backend: SandboxBackendProtocolV2, message: BaseMessage): Promise<BaseMessage> {
  if (!isTooLong(message) || KEPT_IN in message.additional_kwargs) return message;
  const { long_messages } = currentRun();
  let path = long_messages.get(message);
  if (path === undefined) {
    const name = `/conversation_history/${(message.id ?? crypto.randomUUID()).replace(/[^\w-]/g, "_")}`;
    const { error } = await backend.write(name, message.text);
    if (error) return message;
    path = name;
    long_messages.set(message, path);
  }
  const { content, id, response_metadata } = message;
  const additional_kwargs = { ...message.additional_kwargs, [KEPT_IN]: path };
  return new HumanMessage({ content, response_metadata, additional_kwargs, ...(id && { id }) });
}
