/** What an event carries of who it is about, by the metadata of LangChain's callbacks: the agent, unless it is the session's own. */
export function aboutAgent(metadata: Record<string, unknown> | undefined, root_agent: string): { agent?: string } {
  const name = metadata?.["lc_agent_name"];
  return typeof name === "string" && name !== "" && name !== root_agent ? { agent: name } : {};
}
