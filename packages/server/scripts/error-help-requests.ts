/** When a request is refused, and what its sender can do. By code: every one below 500. */
export const REQUEST_HELP = {
  validation_failed: [
    "A field, parameter or header is missing, of the wrong type, beyond its limits or not known.",
    "Read `errors`: each names the place and what is wrong with it.",
  ],
  idempotency_mismatch: [
    "The key came with another request in the last 24 hours.",
    "Use a new key for a new request; repeat a request with its own body.",
  ],
  limit_exceeded: [
    "A count, a quota or the disk is full; `detail` says which.",
    "Remove something, or have the limit raised.",
  ],
  content_too_large: [
    "A body, a message, an artifact, a file or a store value is too long.",
    "Send less, or in parts; the limit is in `detail`.",
  ],
  unserializable_value: [
    "A value can't be written as JSON: a function, a cycle, a date out of range.",
    "Give plain data.",
  ],
  artifact_reason_required: [
    "A contract or a policy was changed without saying why.",
    "Send `reason` with the new version.",
  ],
  workspace_path_refused: [
    "The folder is outside the workspace root, another than the chat's, or the caller has a scope and can't choose folders.",
    "Leave the path out, or name one inside the root.",
  ],
  callback_url_refused: [
    "The callback's address is private, loopback or link-local.",
    "Use a public address, or have it listed in `webhooks.allow_addresses`.",
  ],
  address_refused: [
    "A tool or a provider was sent to an address that is not public.",
    "Use a public one, or have it allowed in the configuration.",
  ],
  unknown_agent: [
    "No agent of that name is there for this scope, or it is for delegation only.",
    "Choose one of those in `detail`; `GET /agents` lists them.",
  ],
  unknown_backend: [
    "The configuration names a storage or a sandbox that is not there.",
    "Choose one of those in `detail`.",
  ],
  unknown_provider: ["No model provider has that id or kind in this scope.", "Choose one of `GET /models/providers`."],
  unknown_model: [
    "No enabled provider has that model, or none is named.",
    "Choose one of `GET /models`, or name a provider as well.",
  ],
  unknown_tool: ["An agent's definition names a tool that is not there.", "Choose from `GET /tools`."],
  unknown_config_key: [
    "A key of the configuration or a `COGNITION_` variable is not known.",
    "Correct its spelling; `cognition config` lists all.",
  ],
  invalid_config: [
    "A value of the configuration, or of a provider, can't work.",
    "Correct what `detail` names; nothing was started.",
  ],
  no_provider_enabled: ["A model is asked for and every provider is off.", "Enable one, or set a provider's key."],
  decision_not_allowed: ["The approval doesn't offer this decision.", "Choose from its `allowed_decisions`."],
  malformed_request: [
    "The request is not HTTP, its address is not percent-encoded UTF-8, or its body is not UTF-8 or not JSON.",
    "Send a well-formed address and JSON; nothing was done.",
  ],
  unauthorized: ["A credential is missing, wrong, expired or revoked.", "Send a valid key or token."],
  budget_exceeded: [
    "A budget of this scope, agent, session or run is used up; the run's work is kept.",
    "Raise it (`PUT /budgets`) or wait for its reset, then resume.",
  ],
  forbidden: ["The credential may not do this; writing what others share needs an admin key.", "Use an admin key."],
  scope_required: ["Scoping is on and a scope header is missing.", "Send the headers in `details.headers`."],
  scope_mismatch: [
    "A scope header contradicts the credential, or `user_id` the scope's user.",
    "Leave it out, or send the bound value.",
  ],
  origin_refused: [
    "A web page of another origin asks, or the `Host` is not a name of this server.",
    "Have it listed in `cors.origins` or `server.hosts`.",
  ],
  route_not_found: ["No such path.", "See `GET /docs`."],
  method_not_allowed: ["The path is there, but not for this method.", "Use one of the `Allow` header."],
  session_not_found: ["There is none with this id in the caller's scope.", "Check the id and the scope headers."],
  message_not_found: ["The session has no such message.", "List the session's messages."],
  run_not_found: ["The session has no such run.", "List the session's runs."],
  checkpoint_not_found: ["The session has no such checkpoint.", "List the session's checkpoints."],
  snapshot_not_found: [
    "The files of that point were let go to keep within the quota.",
    'Go there with `restore: ["conversation"]`.',
  ],
  artifact_not_found: [
    "There is none with this id that the caller may see.",
    "For a private one, name its session: `?session_id=`.",
  ],
  file_not_found: ["The workspace has no such file.", "List the files."],
  thread_not_found: ["The library was asked for a thread that is not there.", "Check the id."],
  thread_deleted: ["The session was deleted while something still worked on it.", "Nothing; its work ends."],
  delivery_not_found: ["There is no such callback in the caller's scope.", "List the deliveries."],
  approval_not_found: ["There is no such approval.", "List the approvals."],
  agent_not_found: ["There is no such agent in the caller's scope.", "List the agents."],
  provider_not_found: ["There is no such provider in the caller's scope.", "List the providers."],
  profile_not_found: ["The user has no profile yet.", "Write one with PUT."],
  task_not_found: ["There is no such task in the caller's scope.", "Check the id and the scope headers."],
  conversation_not_found: ["The user has no such conversation.", "Leave `conversation_id` out to begin one."],
  chat_not_found: ["The user has no active chat of that id.", "PUT makes one."],
  tool_call_not_found: [
    "The journal was told the end of a call that never began.",
    "Report it: the server does not do this by itself.",
  ],
  api_key_not_found: ["No key has that id or beginning.", "`cognition keys list` shows them."],
  store_item_not_found: ["The store has no such item in the caller's scope.", "Search under its namespace."],
  session_busy: [
    "The session has an active run, and the request needs it idle.",
    "Wait for its end, abort it, or send with `on_busy`.",
  ],
  session_inactive: ["The session was set inactive.", "PATCH its `status` to active."],
  waiting_for_approval: ["The session's run waits for a human.", "Answer it, or abort the run in `details.run_id`."],
  nothing_waiting: ["A decision came, and nothing waits for one.", "Nothing; list the approvals to see what does."],
  nothing_to_resume: ["The last run succeeded, or the session was put back to an end.", "Send a message instead."],
  nothing_to_rewind: ["The session has no earlier point of that kind.", "List the session's checkpoints."],
  already_answered: ["The approval was answered before; that answer stays.", "Nothing."],
  already_exists: ["The name or id is taken.", "Choose another, or change the one that is there."],
  not_writable: [
    "It is built in, or defined in a file or the configuration.",
    "Make one of another name, or change the file.",
  ],
  file_conflict: [
    "Files that would be restored were changed by others since.",
    "Look at `details.files`; send `force` to overwrite them.",
  ],
  version_conflict: ["Somebody changed it between the reading and the writing.", "Read it again and repeat."],
  precondition_failed: [
    "`If-Match` is not the version that is there.",
    "Read the artifact again; its `ETag` is the version.",
  ],
  stale_epoch: [
    "A worker that lost its lease tried to write; its write was refused.",
    "Nothing; another worker has the run.",
  ],
  concurrent_writer: [
    "Another writer was first on this thread, or the first request of this key is still at work.",
    "Repeat after `Retry-After`, or read the thread again.",
  ],
  tool_call_started: ["A tool call was to begin a second time.", "Nothing; the first one stands."],
  tool_call_ended: ["A tool call that has ended was to end otherwise.", "Nothing; its result stays."],
  run_ended: ["Something was to be written to a run that has ended.", "Start a new run."],
  run_not_claimable: ["A worker asked for a run that another has, or that has ended.", "Nothing."],
  task_completed: ["The task is complete and takes no more changes.", "Start another on the same conversation."],
  aborted: ["Somebody stopped the run.", "Resume the session to go on from its last checkpoint."],
  rate_limited: ["The scope sent more requests than it may.", "Wait for `Retry-After` seconds."],
} as const satisfies Record<string, readonly [when: string, remedy: string]>;
