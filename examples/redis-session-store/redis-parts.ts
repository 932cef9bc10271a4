import { AppError, type ChatKey } from "@cognition/thread";
import { createClient } from "redis";

type Client = ReturnType<typeof createClient>;

export interface RedisParts {
  setup(): Promise<void>;
  teardown(): Promise<void>;
  /** Rejects with `not_initialized` before `setup`. */
  client(): Promise<Client>;
  /** active, session, used, log, last id */
  keys(key: ChatKey, member?: string): string[];
  run(script: string, key: ChatKey, member: string, args: readonly (string | number)[]): Promise<unknown>;
}

const CONNECT_ATTEMPTS = 5;

export function createParts(url: string, prefix: string): RedisParts {
  let connecting: Promise<Client> | undefined;

  async function client(): Promise<Client> {
    if (!connecting) throw new AppError("not_initialized", "Store not initialized — call setup() first");
    return connecting;
  }

  // JSON, so that the parts of a key stay apart whatever characters they have.
  function keys({ user_id, chat_id }: ChatKey, member = ""): string[] {
    const pair = JSON.stringify([user_id, chat_id]);
    return [`active:${pair}`, `session:${member}`, "used", `log:${pair}`, "last-message-id"].map((key) => prefix + key);
  }

  async function run(
    script: string,
    key: ChatKey,
    member: string,
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const redis = await client();
    return redis.eval(script, { keys: keys(key, member), arguments: args.map(String) });
  }

  return {
    client,
    keys,
    run,
    setup: async () => {
      connecting ??= connect(url).catch((error) => {
        connecting = undefined;
        throw error;
      });
      await connecting;
    },
    teardown: async () => {
      const open = connecting;
      connecting = undefined;
      await (await open)?.close();
    },
  };
}

async function connect(url: string): Promise<Client> {
  const reconnectStrategy = (retries: number) => (retries < CONNECT_ATTEMPTS ? 100 * 2 ** retries : false);
  const redis = createClient({ url, socket: { reconnectStrategy } });
  // Without a listener a lost connection would end the process; the calls that meet it reject anyway.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    return redis as Client;
  } catch (cause) {
    throw new AppError("storage_unavailable", `Redis can't be reached: ${(cause as Error).message}`, { cause });
  }
}
