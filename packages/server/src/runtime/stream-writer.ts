import { getConfig } from "@langchain/langgraph";
import { customData } from "./custom-data.ts";
import type { RunScope } from "./run-scope.ts";

/** What nodes and tools write to LangGraph's custom stream, as events; those of a subagent with its name. */
export function createStreamWriter({ work, root_agent }: RunScope): (data: unknown) => void {
  return (data) => {
    const name = getConfig()?.metadata?.["lc_agent_name"];
    const about = typeof name === "string" && name !== root_agent ? { agent: name } : {};
    work.log.emit("custom", { ...customData(data, work), ...about });
  };
}
