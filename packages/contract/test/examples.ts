import type { Message } from "../src/index.ts";

export const NOW = "2026-03-21T12:34:56.789Z";

export const message: Message = {
  id: "msg-123",
  session_id: "0195b7a0-1111-7abc-8def-0123456789ab",
  role: "assistant",
  content: "Here is",
  tool_calls: [{ id: "call_1", name: "bash", args: { command: "ls -la" } }],
  tool_call_id: null,
  token_count: 150,
  model_used: "gpt-4o",
  parent_id: null,
  metadata: { summarized: true },
  run_id: "run-1",
  checkpoint_id: null,
  created_at: NOW,
};
