import { ChatAnthropic } from "@langchain/anthropic";

type Opened = ReturnType<ChatAnthropic["createStreamWithRetry"]>;
type Event = Awaited<Opened> extends AsyncIterable<infer T> ? T : never;

/** Messages as they come from servers that report no usage: the package counts what is not there, and throws. */
export class AnthropicAnswers extends ChatAnthropic {
  protected override async createStreamWithRetry(...args: Parameters<ChatAnthropic["createStreamWithRetry"]>): Opened {
    const stream = await super.createStreamWithRetry(...args);
    const events = stream[Symbol.asyncIterator].bind(stream);
    stream[Symbol.asyncIterator] = () => withUsage({ [Symbol.asyncIterator]: events });
    return stream;
  }
}

async function* withUsage(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    // Nothing in it makes a count of nothing, which passes for none.
    if (event.type === "message_start") event.message.usage ??= {} as typeof event.message.usage;
    if (event.type === "message_delta") event.usage ??= {} as typeof event.usage;
    yield event;
  }
}
