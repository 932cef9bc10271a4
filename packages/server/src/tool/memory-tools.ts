import { DEFAULT_MAX_OUTPUT_BYTES, MAX_STORE_KEY_LENGTH } from "@cognition/contract";
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { limitText } from "./limit-text.ts";

/** Below the scope that the store is confined to, shared by all its agents and sessions. */
const NAMESPACE = ["memories"];
const MAX_CONTENT = 20_000;

const key = z.string().trim().min(1).max(MAX_STORE_KEY_LENGTH);

const remember = defineTool({
  name: "remember",
  description:
    "Keeps a fact for later conversations under a short key. The same key again replaces what was kept. Not for secrets.",
  schema: z.object({
    key: key.describe("For example preferred-language"),
    content: z.string().min(1).max(MAX_CONTENT),
  }),
  on_crash: "retry",
  effect: "write",
  async run({ key, content }, { store }) {
    await store.put(NAMESPACE, key, { content });
    return `Remembered ${key}.`;
  },
});

const recall = defineTool({
  name: "recall",
  description:
    "Looks up what was remembered in this or an earlier conversation: one key, or what fits a few words, or all.",
  schema: z.object({
    key: key.optional(),
    query: z.string().trim().min(1).max(1000).optional(),
    limit: z.int().min(1).max(100).default(20),
  }),
  on_crash: "retry",
  effect: "read",
  async run({ key, query, limit }, { store }) {
    const one = key === undefined ? undefined : await store.get(NAMESPACE, key);
    const items =
      key === undefined ? await store.search(NAMESPACE, { limit, ...(query && { query }) }) : one ? [one] : [];
    if (items.length === 0) return "Nothing is remembered about that.";
    const lines = items.map((item) => `${item.key}: ${String(item.value["content"])}`);
    return limitText(lines.join("\n"), DEFAULT_MAX_OUTPUT_BYTES);
  },
});

const forget = defineTool({
  name: "forget",
  description: "Deletes what was remembered under a key.",
  schema: z.object({ key }),
  on_crash: "retry",
  effect: "write",
  async run({ key }, { store }) {
    const known = await store.get(NAMESPACE, key);
    if (!known) return `Nothing is remembered under ${key}.`;
    await store.delete(NAMESPACE, key);
    return `Forgot ${key}.`;
  },
});

export const MEMORY_TOOLS = [remember, recall, forget];
