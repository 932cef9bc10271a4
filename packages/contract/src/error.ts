import { z } from "zod";

interface ErrorEntry {
  readonly code: string;
  readonly status: number;
  readonly title: string;
}

/** Every error the system reports, with its HTTP status. Codes are never renamed: clients branch on them. */
export const ERROR_CODES = [
  { code: "validation_failed", status: 422, title: "The request is not valid" },
  { code: "idempotency_mismatch", status: 422, title: "The idempotency key was used with another body" },
  { code: "limit_exceeded", status: 422, title: "A limit was exceeded" },
  { code: "content_too_large", status: 413, title: "The content is too large" },
  { code: "unserializable_value", status: 422, title: "The value cannot be stored" },
  { code: "artifact_reason_required", status: 422, title: "A new version of this artifact needs a reason" },
  { code: "workspace_path_refused", status: 422, title: "The workspace path is not allowed" },
  { code: "callback_url_refused", status: 422, title: "The callback address is not allowed" },
  { code: "address_refused", status: 422, title: "The address is not allowed" },
  { code: "unknown_agent", status: 422, title: "The request names an unknown agent" },
  { code: "unknown_backend", status: 422, title: "No such backend" },
  { code: "unknown_provider", status: 422, title: "The request names an unknown provider" },
  { code: "unknown_model", status: 422, title: "The request names an unknown model" },
  { code: "unknown_tool", status: 422, title: "The request names an unknown tool" },
  { code: "unknown_config_key", status: 422, title: "No such configuration key" },
  { code: "invalid_config", status: 422, title: "The configuration is not valid" },
  { code: "no_provider_enabled", status: 422, title: "No model provider is enabled" },
  { code: "decision_not_allowed", status: 422, title: "The decision is not allowed here" },

  { code: "malformed_request", status: 400, title: "The request cannot be read" },
  { code: "unauthorized", status: 401, title: "Authentication is required" },
  { code: "budget_exceeded", status: 402, title: "The budget is used up" },
  { code: "forbidden", status: 403, title: "Not allowed" },
  { code: "scope_required", status: 403, title: "Scope headers are missing" },
  { code: "scope_mismatch", status: 403, title: "The scope contradicts the credentials" },
  { code: "origin_refused", status: 403, title: "Requests from this origin are not allowed" },

  { code: "route_not_found", status: 404, title: "No such route" },
  { code: "method_not_allowed", status: 405, title: "The method is not allowed here" },
  { code: "session_not_found", status: 404, title: "No such session" },
  { code: "message_not_found", status: 404, title: "No such message" },
  { code: "run_not_found", status: 404, title: "No such run" },
  { code: "checkpoint_not_found", status: 404, title: "No such checkpoint" },
  { code: "snapshot_not_found", status: 404, title: "No such workspace snapshot" },
  { code: "artifact_not_found", status: 404, title: "No such artifact" },
  { code: "file_not_found", status: 404, title: "No such file" },
  { code: "thread_not_found", status: 404, title: "No such thread" },
  { code: "thread_deleted", status: 410, title: "The thread was deleted" },
  { code: "delivery_not_found", status: 404, title: "No such delivery" },
  { code: "approval_not_found", status: 404, title: "No such approval" },
  { code: "agent_not_found", status: 404, title: "No such agent" },
  { code: "provider_not_found", status: 404, title: "No such provider" },
  { code: "profile_not_found", status: 404, title: "No such profile" },
  { code: "task_not_found", status: 404, title: "No such task" },
  { code: "conversation_not_found", status: 404, title: "No such conversation" },
  { code: "chat_not_found", status: 404, title: "No such chat" },
  { code: "tool_call_not_found", status: 404, title: "No such tool call" },
  { code: "api_key_not_found", status: 404, title: "No such API key" },
  { code: "store_item_not_found", status: 404, title: "No such item in the memory store" },

  { code: "session_busy", status: 409, title: "The session has an active run" },
  { code: "session_inactive", status: 409, title: "The session is inactive" },
  { code: "waiting_for_approval", status: 409, title: "The session waits for a human's decision" },
  { code: "nothing_waiting", status: 409, title: "Nothing waits for a decision" },
  { code: "nothing_to_resume", status: 409, title: "There is no failed or aborted run to continue" },
  { code: "nothing_to_rewind", status: 409, title: "There is nothing to undo" },
  { code: "already_answered", status: 409, title: "The approval was already answered" },
  { code: "already_exists", status: 409, title: "The name is taken" },
  { code: "not_writable", status: 409, title: "The resource is built in and cannot be changed" },
  { code: "file_conflict", status: 409, title: "Files were changed by others" },
  { code: "version_conflict", status: 409, title: "The resource has changed" },
  { code: "precondition_failed", status: 412, title: "The version is not the one expected" },
  { code: "stale_epoch", status: 409, title: "The run was taken over by another worker" },
  { code: "concurrent_writer", status: 409, title: "Another writer was first" },
  { code: "tool_call_started", status: 409, title: "The tool call has begun already" },
  { code: "tool_call_ended", status: 409, title: "The tool call has ended" },
  { code: "run_ended", status: 409, title: "The run has ended" },
  { code: "run_not_claimable", status: 409, title: "The run cannot be claimed" },
  { code: "task_completed", status: 409, title: "The task is complete" },
  { code: "aborted", status: 409, title: "The run was aborted" },
  { code: "rate_limited", status: 429, title: "Too many requests" },

  { code: "too_many_attempts", status: 500, title: "The run was given up after too many attempts" },
  { code: "outcome_unknown", status: 500, title: "It is not known whether the action took place" },
  { code: "recursion_limit", status: 500, title: "The run took more steps than allowed" },
  { code: "tool_failed", status: 500, title: "A tool failed" },
  { code: "agent_failed", status: 500, title: "The agent failed" },
  { code: "corrupt_data", status: 500, title: "Stored data cannot be read" },
  { code: "schema_too_new", status: 500, title: "The database belongs to a newer release" },
  { code: "schema_outdated", status: 500, title: "The database must be upgraded first" },
  { code: "migration_failed", status: 500, title: "The database could not be upgraded" },
  { code: "not_initialized", status: 500, title: "The storage was not initialized" },
  { code: "internal", status: 500, title: "Internal error" },
  { code: "not_supported", status: 501, title: "Not supported by this server" },
  { code: "model_failed", status: 502, title: "The model provider failed" },
  { code: "model_rate_limited", status: 502, title: "The model provider refused more requests" },
  { code: "model_auth_failed", status: 502, title: "The model provider refused the credentials" },
  { code: "context_overflow", status: 502, title: "The conversation is too long for the model" },
  { code: "model_timeout", status: 504, title: "The model provider did not answer in time" },
  { code: "command_timeout", status: 504, title: "The command did not end in time" },
  { code: "auth_unavailable", status: 503, title: "Credentials cannot be checked just now" },
  { code: "circuit_open", status: 503, title: "A failing service is not being called for a while" },
  { code: "sandbox_unavailable", status: 503, title: "The sandbox is not available" },
  { code: "storage_unavailable", status: 503, title: "The storage is not available" },
  { code: "storage_busy", status: 503, title: "The storage is busy" },
  { code: "storage_closed", status: 503, title: "The storage is closed" },
  { code: "draining", status: 503, title: "The node is shutting down" },
] as const satisfies readonly ErrorEntry[];

export type ErrorCode = (typeof ERROR_CODES)[number]["code"];
export const ErrorCode = z.enum(ERROR_CODES.map((entry) => entry.code) as [ErrorCode, ...ErrorCode[]]);

const byCode = new Map<string, ErrorEntry>(ERROR_CODES.map((entry) => [entry.code, entry]));

export function errorEntry(code: ErrorCode): ErrorEntry {
  const entry = byCode.get(code);
  if (!entry) throw new TypeError(`not an error code: ${code}`);
  return entry;
}

/** What a run or a delivery keeps of an error. */
export const ErrorInfo = z.strictObject({ code: ErrorCode, message: z.string() });
export type ErrorInfo = z.infer<typeof ErrorInfo>;
