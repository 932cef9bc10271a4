import { AppError, isJsonObject, type JsonObject } from "@cognition/contract";
import { DynamicStructuredTool, type StructuredTool } from "@langchain/core/tools";
import { modelSchema } from "../tool/model-schema.ts";
import type { ToolContext, ToolDefinition, ToolEvent } from "../tool/tool.ts";
import { isZodSchema, parseToolArgs } from "../tool/tool-schema.ts";
import { customData } from "./custom-data.ts";
import { toFinishedTool } from "./finished-tool.ts";
import { runContext } from "./run-context.ts";
import { currentCall, currentRun, follow, type RunScope } from "./run-scope.ts";
import { textOf } from "./text-of.ts";

/** What a tool of ours may use of the run it works for. */
export type ContextParts = (scope: RunScope) => Pick<ToolContext, "store" | "artifacts">;

/** A tool as LangChain calls it. Where and for whom it runs it learns from the run, not from the graph. */
export function toGraphTool(
  definition: ToolDefinition,
  partsOf: ContextParts,
  { endsTurn = false }: { endsTurn?: boolean } = {},
): StructuredTool {
  const { schema } = definition;
  const tool = new DynamicStructuredTool({
    returnDirect: endsTurn,
    name: definition.name,
    description: definition.description,
    schema: (isZodSchema(schema) ? schema : ANY_ARGUMENTS) as ConstructorParameters<
      typeof DynamicStructuredTool
    >[0]["schema"],
    responseFormat: "content_and_artifact",
    func: async (args: Record<string, never>) => {
      const running = Promise.resolve(definition.run(args, contextOf(partsOf)));
      const result = await follow(running, (given) => textOf(toFinishedTool(given).output));
      const { output, artifact, exit_code } = toFinishedTool(result);
      const call = currentCall();
      if (call && exit_code !== null) call.exit_code = exit_code;
      return [output, artifact];
    },
  }) as unknown as StructuredTool;
  return isZodSchema(schema) ? tool : checked(tool, definition, schema);
}

const ANY_ARGUMENTS = { type: "object" };

/**
 * Models are shown the schema, and arguments are held to it here. Of those that don't fit, LangChain only says that they don't: a model
 * could but guess what to mend. And its own check takes every alternative, so one within itself twice, for as long as that takes.
 */
function checked(tool: StructuredTool, definition: ToolDefinition, schema: JsonObject): StructuredTool {
  const call = async (...[args, ...rest]: Parameters<StructuredTool["call"]>) => {
    await parseToolArgs(definition, args);
    return tool.call(args, ...rest);
  };
  return Object.create(tool, { call: { value: call }, schema: { value: modelSchema(schema), enumerable: true } });
}

function contextOf(partsOf: ContextParts): ToolContext {
  const scope = currentRun();
  const { work } = scope;
  const call = currentCall();
  const tool_call_id = call?.tool_call_id ?? "";
  return {
    ...runContext(),
    tool_call_id,
    idempotency_key: call?.idempotency_key ?? "",
    ...partsOf(scope),
    emit: (event) => {
      if (scope.closed) return; // nothing of a run follows its end
      const about = call?.about ?? {};
      if (isCustom(event)) work.log.emit("custom", { ...customData(event.data, work), ...about });
      else work.log.emit("tool_output", { ...about, tool_call_id, content: outputIn(event) });
    },
  };
}

function isCustom(event: unknown): event is Extract<ToolEvent, { event: "custom" }> {
  return isJsonObject(event) && event["event"] === "custom";
}

// A tool in a file has no types to hold it to: what is no text would be an event that no client can read, or stop the log.
function outputIn(event: unknown): string {
  const { event: name, content } = isJsonObject(event) ? event : {};
  if (name === "tool_output" && typeof content === "string") return content;
  throw new AppError(
    "validation_failed",
    'emit takes { event: "tool_output", content }, with a text as content, or { event: "custom", data }.',
  );
}
