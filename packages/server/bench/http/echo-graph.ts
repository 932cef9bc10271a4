import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const WAIT = /^wait (\d+) ms/;

/** Says what it was told; `wait 500 ms` takes it so long. Both servers load this file, each with the LangGraph beside it. */
async function echo({ messages }: { messages: BaseMessage[] }): Promise<{ messages: AIMessage[] }> {
  const text = messages.at(-1)?.text ?? "";
  const wait = Number(WAIT.exec(text)?.[1] ?? 0);
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  return { messages: [new AIMessage(text)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("echo", echo)
  .addEdge(START, "echo")
  .addEdge("echo", END)
  .compile();
