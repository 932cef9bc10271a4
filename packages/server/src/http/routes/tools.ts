import { describeRuntimeTool, describeTool, type ToolRegistry } from "../../tool/tool-registry.ts";
import type { Handlers } from "../handler.ts";
import { slicePage } from "./page.ts";

export interface ToolRoutes {
  readonly tools: Pick<ToolRegistry, "ask">;
}

export function toolRoutes({ tools }: ToolRoutes): Pick<Handlers, "listTools"> {
  return {
    listTools: async ({ query }) => {
      const known = await tools.ask();
      const own = known.usable.map(describeTool);
      const named = new Set(own.map(({ name }) => name));
      const engine = [...known.tools.values()].filter(({ name }) => !named.has(name)).map(describeRuntimeTool);
      const all = [...own, ...engine].sort((a, b) => (a.name < b.name ? -1 : 1));
      const { page, info } = slicePage(query, all);
      return { tools: page, ...info };
    },
  };
}
