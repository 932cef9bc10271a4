import { z } from "zod";
import { option, section } from "../option.ts";

const exports = (what: string) =>
  z.record(z.string().min(1), z.string().min(1), { error: `must map names to ${what}, each "./path.ts#export"` });

export const AgentsSection = section({
  graphs: option(exports("modules").default({}), {
    description:
      "Compiled LangGraph graphs that are agents, by name: `{support: ./graphs/support.ts#graph}`, from the workspace's root.",
  }),
  middleware: option(exports("modules").default({}), {
    description:
      "Middleware that agents may name: `{audit: ./middleware/audit.ts#audit}`, each a function that makes it for an agent.",
  }),
});
