import type { AIMessage } from "@langchain/core/messages";
import { Command, getCurrentTaskInput, isCommand } from "@langchain/langgraph";
import { type AgentMiddleware, createMiddleware } from "langchain";

type Wrap = NonNullable<AgentMiddleware["wrapModelCall"]>;
type Request = Parameters<Wrap>[0];
type Handler = Parameters<Wrap>[1];
type Answer = Awaited<ReturnType<Wrap>>;

/**
 * What the middleware does around a model call, as that of one of them, the first outermost. LangChain looks through all
 * tools and reads the state by a schema that it makes anew, for each middleware and at each call: of a short run that was a tenth.
 * All else that they have (tools, state, steps of the graph) is as it was.
 *
 * One that answers with another message than the model's can't be beside one that answers with a Command: LangChain knows only
 * the message that came from within.
 */
export function inOneCall(name: string, middleware: readonly AgentMiddleware[]): AgentMiddleware[] {
  const wraps = middleware.flatMap(({ wrapModelCall }) => wrapModelCall ?? []);
  const rest = middleware.map(({ wrapModelCall: _, ...others }) => others as AgentMiddleware);
  return [...rest, createMiddleware({ name, wrapModelCall: together(wraps) }) as unknown as AgentMiddleware];
}

function together(wraps: readonly Wrap[]): Wrap {
  return async (request, handler) => {
    const commands: Command[] = [];
    let said: AIMessage | undefined;
    /** As between LangChain's own: whoever is around sees what the model has said, and the graph what is to be changed. */
    function seen(answer: Answer): AIMessage {
      if (!isCommand(answer)) said = answer as AIMessage;
      else commands.push(answer as Command);
      return said as AIMessage;
    }
    const call = wraps.reduceRight<Handler>(
      (inner, wrap) => async (asked) => seen(await wrap(asked as Request, inner)),
      async (asked) => seen(await handler(asked)),
    );
    const state = { ...getCurrentTaskInput<object>(), messages: request.state.messages };
    const answer = await call({ ...request, state });
    if (commands.length === 0) return answer;
    return new Command({ update: Object.assign({}, ...commands.map(({ update }) => update)) });
  };
}
