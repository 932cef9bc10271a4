import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";
import { journalTool } from "../../../src/index.ts";

const Context = z.object({ ledger: z.string(), wrapped: z.boolean() });
type Config = LangGraphRunnableConfig<z.infer<typeof Context>>;

/** What the world sees: a line in a file. The first time it never returns, so that its process can be killed in it. */
const charge = tool(
  async ({ ledger }: { ledger: string }) => {
    appendFileSync(ledger, "charge\n");
    if (existsSync(`${ledger}.hung`)) return "charged";
    writeFileSync(`${ledger}.hung`, "");
    process.stdout.write("hanging\n");
    return new Promise<string>(() => setInterval(() => undefined, 1_000));
  },
  { name: "charge", description: "Charges", schema: z.object({ ledger: z.string() }) },
);

const note = (name: string) => (_: unknown, config: Pick<Config, "context">) => {
  appendFileSync(config.context?.ledger ?? "", `${name}\n`);
  return {};
};

export const graph = new StateGraph(MessagesAnnotation, Context)
  .addNode("first", note("first"))
  .addNode("pay", async (_, config) => {
    const { ledger = "", wrapped = true } = config.context ?? {};
    appendFileSync(ledger, "pay\n");
    const paid = await (wrapped ? journalTool(charge) : charge).invoke({ ledger }, config);
    return { messages: [new AIMessage(String(paid))] };
  })
  .addNode("last", note("last"))
  .addEdge(START, "first")
  .addEdge("first", "pay")
  .addEdge("pay", "last")
  .addEdge("last", END)
  .compile();
