import { getConfig } from "@langchain/langgraph";
import { aboutAgent } from "./about-agent.ts";
import { customData } from "./custom-data.ts";
import type { RunScope } from "./run-scope.ts";

/** What nodes and tools write to LangGraph's custom stream, as events; those of a subagent with its name. */
export function createStreamWriter({ work, root_agent }: RunScope): (data: unknown) => void {
  return (data) => {
    work.log.emit("custom", { ...customData(data, work), ...aboutAgent(getConfig()?.metadata, root_agent) });
  };
}
