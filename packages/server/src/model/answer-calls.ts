import { randomUUID } from "node:crypto";
import { isJsonObject, isShallow, type JsonObject, MAX_JSON_DEPTH, type StopReason } from "@cognition/contract";
import type { AIMessageChunk } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";

/** A call that the model has made and nobody may run. It is answered with the reason, so that the model can make it anew. */
export interface UnusableCall {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
}

interface GatheredCall {
  readonly index: unknown;
  id: unknown;
  name: unknown;
  /** As it was sent, and not as LangChain reads it: that closes what was cut off, and a command's first half would run. */
  text: string;
}

type CallPiece = { readonly index?: unknown; readonly id?: unknown; readonly name?: unknown; readonly args?: unknown };

type Block = { readonly type: string; readonly index?: unknown };

/** Anthropic's answers hold their calls in the content as well. From there they are sent back, whatever became of them. */
const CALLS: ReadonlySet<string> = new Set(["tool_use", "input_json_delta"]);

/** Anthropic's searches and the like, which it runs itself: their arguments come as those of ours do. */
const ITS_OWN = "server_tool_use";

/** What stands for a call whose name is none. Providers refuse a conversation with an empty one in it. */
const NO_NAME = "unknown_tool";
const MAX_NAME_LENGTH = 256;

/**
 * The tool calls of one answer. They are taken out of its pieces and told once, whole, at the end: nobody can act on half a
 * call, and what a call holds is fit to be sent back to the provider, which otherwise refuses the whole conversation.
 */
export class AnswerCalls {
  readonly #calls: GatheredCall[] = [];
  /** Where the content has a call that the provider runs itself. */
  readonly #itsOwn = new Set<unknown>();

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** How much text the calls are made of. */
  get characters(): number {
    return this.#calls.reduce((sum, { name, text }) => sum + String(name ?? "").length + text.length, 0);
  }

  /** Takes the calls out of a piece of the answer, with what else of it would be sent back as a call. */
  take(message: AIMessageChunk): void {
    const pieces: readonly CallPiece[] = message.tool_call_chunks?.length
      ? message.tool_call_chunks
      : (message.tool_calls ?? []);
    const blocks = Array.isArray(message.content) ? message.content : [];
    for (const { type, index } of blocks) if (type === ITS_OWN) this.#itsOwn.add(index);
    for (const piece of pieces) if (piece.id || !this.#itsOwn.has(piece.index)) this.#add(piece);
    message.tool_call_chunks = [];
    message.tool_calls = [];
    message.invalid_tool_calls = [];
    delete message.additional_kwargs["tool_calls"];
    if (!Array.isArray(message.content)) return;
    message.content = message.content
      .map((block) => ({ ...block, type: this.#typeOf(block) }))
      .filter(({ type }) => !CALLS.has(type));
  }

  /** The calls as they may run, and those that may not. `stopped` where the answer is not whole. */
  read(stopped: StopReason | undefined): { usable: ToolCall[]; unusable: UnusableCall[] } {
    const usable: ToolCall[] = [];
    const unusable: UnusableCall[] = [];
    const taken = new Set<string>();
    for (const call of this.#calls) {
      const id = isFit(call.id) && !taken.has(call.id) ? call.id : newId();
      taken.add(id);
      const { name, args, reason } = judge(call, stopped);
      if (reason === undefined) usable.push({ type: "tool_call", id, name, args });
      else unusable.push({ id, name, reason });
    }
    return { usable, unusable };
  }

  /** Anthropic gives the arguments of any call as blocks of their own. Those of its own go with that call, as it is sent back. */
  #typeOf({ type, index }: Block): string {
    return type === "input_json_delta" && this.#itsOwn.has(index) ? ITS_OWN : type;
  }

  #add({ index, id, name, args }: CallPiece): void {
    const call = this.#openCall(index, id, name) ?? this.#begin(index);
    call.id ||= id;
    call.name ||= name;
    // Some servers send an object where the protocol has a text.
    call.text += typeof args === "string" ? args : args == null ? "" : JSON.stringify(args);
  }

  /** The call that a piece goes on with: the one at its index, unless it has another id. */
  #openCall(index: unknown, id: unknown, name: unknown): GatheredCall | undefined {
    if (index == null && !id) return name ? undefined : this.#calls.at(-1);
    return this.#calls.findLast((call) => call.index === index && (!id || !call.id || call.id === id));
  }

  #begin(index: unknown): GatheredCall {
    const call: GatheredCall = { index, id: undefined, name: undefined, text: "" };
    this.#calls.push(call);
    return call;
  }
}

/** Without the dashes, which would make it longer than the 40 characters that OpenAI takes. */
function newId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

type Judged = { name: string; args: Record<string, unknown>; reason?: string };

function judge({ name, text }: GatheredCall, stopped: StopReason | undefined): Judged {
  if (!isFit(name) || name.length > MAX_NAME_LENGTH) {
    return { name: NO_NAME, args: {}, reason: "It was not run: it does not name a tool." };
  }
  // What was cut off before its arguments is no call without any.
  const args = text.trim() === "" && !stopped ? {} : parse(text);
  if (!isJsonObject(args)) return { name, args: {}, reason: `${name} was not run: ${unreadable(stopped)}` };
  const flaw = flawIn(args);
  if (flaw === undefined) return { name, args };
  return { name, args: {}, reason: `${name} was not run: its arguments ${flaw}. Make the call again without that.` };
}

function unreadable(stopped: StopReason | undefined): string {
  switch (stopped) {
    case "max_tokens":
      return "the answer reached its maximum length (max_tokens), and the arguments were cut off. Make the call again with less in it, or in several steps.";
    case "refusal":
      return "the provider would say no more of the answer (its filter), and the arguments were cut off.";
    default:
      return "its arguments are not a whole JSON object. Make the call again with arguments that are.";
  }
}

/** Why no thread can keep them: the run would end with the call, and with what else the answer says. */
function flawIn(args: JsonObject): string | undefined {
  if (!isShallow(args)) return `are nested deeper than the limit of ${MAX_JSON_DEPTH} levels`;
  return hasProto(args) ? "have a member called __proto__, which can't be kept" : undefined;
}

function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the model is told so
  }
}

/** A text that every storage and every provider takes as it is. */
function isFit(text: unknown): text is string {
  return typeof text === "string" && text !== "" && text.isWellFormed() && !text.includes("\0");
}
