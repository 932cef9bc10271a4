/** What failed when the request itself was fine, and what can be done. By code: 500 and above. */
export const FAILURE_HELP = {
  too_many_attempts: [
    "The run was cut off several times without getting further: it may end the process it runs in.",
    "Look for the cause in the log; then resume the session.",
  ],
  outcome_unknown: [
    "The process ended while a tool that can't be repeated safely was at work.",
    "See for yourself whether it took place; the model is told the same.",
  ],
  recursion_limit: ["The run took more steps than its `recursion_limit`.", "Raise the limit, or resume to go on."],
  tool_failed: ["A tool threw an error.", "The model was told; see the tool's result."],
  agent_failed: ["The agent's graph threw an error.", "See `error` of the run; resume once it is mended."],
  corrupt_data: ["A stored value can't be read.", "`cognition doctor --repair`, or restore a backup."],
  schema_too_new: ["A newer release has upgraded the database.", "Run that release or a later one."],
  schema_outdated: ["The database is of an older release.", "`cognition db migrate`."],
  migration_failed: ["An upgrade of the database stopped; what it had begun was undone.", "See `detail` and the log."],
  not_initialized: ["The library's storage is used before `initialize()`.", "Call it first."],
  internal: ["A fault of the server.", "The request id (`X-Request-Id`) finds the cause in the log."],
  not_supported: ["This server has no part that could do it.", "See its configuration."],
  model_failed: [
    "The provider answered with an error or with nothing, also after retries.",
    "See `detail`; resume the session.",
  ],
  model_rate_limited: ["The provider allows no more requests just now.", "Wait, or enable a second provider."],
  model_auth_failed: ["The provider refused the key.", "Check the variable that `api_key_env` names."],
  response_format_failed: [
    "The model gave no answer of the form that the agent asks for.",
    "Simplify the form, or use another model.",
  ],
  context_overflow: [
    "The conversation is longer than the model takes.",
    "Use a model with a larger window, or rewind.",
  ],
  model_timeout: ["The provider took longer than `timeout_ms`.", "Raise it, or resume the session."],
  command_timeout: ["A command took longer than it may; it was stopped.", "Raise the limit, or split the work."],
  auth_unavailable: [
    "The keys that tokens are checked with can't be fetched.",
    "Try again; see to the issuer's address.",
  ],
  circuit_open: [
    "A provider or sandbox failed so often that it is left alone for a while.",
    "Wait; `GET /health` shows the breakers.",
  ],
  sandbox_unavailable: [
    "The container engine or the sandbox program doesn't answer.",
    "`cognition doctor` tells what is missing.",
  ],
  storage_unavailable: ["The database can't be reached.", "Try again; nothing that was acknowledged is lost."],
  storage_busy: ["Another process is writing for too long.", "Try again."],
  storage_closed: ["The storage was closed while something still used it.", "Open it again."],
  draining: ["The node is shutting down.", "Ask again: another node, or the same one once it is back."],
  server_unreachable: ["The client got no answer at all.", "Check the address, and that the server runs."],
  unexpected_answer: ["What answered is not this API: a proxy, or another server.", "Check the address."],
} as const satisfies Record<string, readonly [when: string, remedy: string]>;
