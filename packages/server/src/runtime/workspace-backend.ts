import { AppError, type ErrorCode, isAppError } from "@cognition/contract";
import type {
  EditResult,
  ExecuteResponse,
  FileInfo,
  GlobResult,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocolV2,
  WriteResult,
} from "deepagents";
import { AWAY } from "../run/not-the-runs.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type CallScope, currentCall, currentRun, follow } from "./run-scope.ts";

/** What a model can do something about; anything else is ours, and fails the call. */
const FOR_THE_MODEL: readonly ErrorCode[] = [
  "workspace_path_refused",
  "file_not_found",
  "validation_failed",
  "forbidden",
  "content_too_large",
  "limit_exceeded",
  "not_supported",
];

/**
 * Deepagents' file and command tools, on the workspace of whichever session the run at hand belongs to. To them the
 * workspace is the root: "/notes.txt" is a file in it.
 */
export function createWorkspaceBackend(): SandboxBackendProtocolV2 {
  return { id: "workspace", ls, read, readRaw, write, edit, grep, glob, delete: remove, execute };
}

function sandbox(): Sandbox {
  return currentRun().sandbox;
}

function inside(path: string): string {
  const { root } = sandbox();
  if (path === root || path.startsWith(`${root}/`)) return path;
  return path.replace(/^\/+/, "") || ".";
}

async function orError<T extends object>(work: () => Promise<T>): Promise<T | { error: string }> {
  try {
    const result = await work();
    noteFailed(false);
    return result;
  } catch (error) {
    if (!isAppError(error, ...FOR_THE_MODEL)) throw error;
    noteFailed(true);
    return { error: error.message };
  }
}

/** The model reads it in the text; whoever follows the run reads it in the call's outcome. */
function noteFailed(failed: boolean): void {
  const call = currentCall();
  if (call) call.failed = failed;
}

function toInfo({
  path,
  type,
  size,
  modified_at,
}: {
  path: string;
  type: string;
  size: number;
  modified_at: string;
}): FileInfo {
  const is_dir = type === "directory";
  return { path: `/${path}${is_dir ? "/" : ""}`, is_dir, size, modified_at };
}

function ls(path: string): Promise<LsResult> {
  return orError(async () => ({ files: (await sandbox().files.ls(inside(path))).map(toInfo) }));
}

const LINES = 500;

function read(path: string, offset = 0, limit = LINES): Promise<ReadResult> {
  return orError(async (): Promise<ReadResult> => {
    const lines = (await sandbox().files.readText(inside(path))).split("\n");
    // What ends the last line begins no other one.
    const totalLines = Math.max(1, lines.at(-1) === "" ? lines.length - 1 : lines.length);
    if (offset >= totalLines) throw behindEnd(path, offset, totalLines);
    const content = lines.slice(offset, offset + limit).join("\n");
    const endLine = Math.min(offset + limit, totalLines);
    const more = endLine < totalLines && { nextOffset: endLine };
    return { content, mimeType: "text/plain", totalLines, startLine: offset + 1, endLine, ...more };
  });
}

function behindEnd(path: string, offset: number, lines: number): AppError {
  const count = lines === 1 ? "1 line" : `${lines} lines`;
  return new AppError("validation_failed", `${path} has ${count}; there is nothing behind an offset of ${offset}.`);
}

function readRaw(path: string): Promise<ReadRawResult> {
  return orError(async () => {
    const { files } = sandbox();
    const [content, { modified_at }] = await Promise.all([files.readText(inside(path)), files.stat(inside(path))]);
    return { data: { content, mimeType: "text/plain", created_at: modified_at, modified_at } };
  });
}

function write(path: string, content: string): Promise<WriteResult> {
  return orError(async () => {
    await follow(sandbox().files.write(inside(path), content), () => `Wrote ${path}`);
    return { path, filesUpdate: null };
  });
}

function edit(path: string, old_text: string, new_text: string, replace_all = false): Promise<EditResult> {
  return orError(async () => {
    const editing = sandbox().files.edit(inside(path), { old_text, new_text, replace_all });
    const { replaced } = await follow(editing, () => `Edited ${path}`);
    return { path, filesUpdate: null, occurrences: replaced };
  });
}

function grep(text: string, path?: string | null, glob?: string | null, maxCount?: number | null): Promise<GrepResult> {
  return orError(async (): Promise<GrepResult> => {
    const { matches, truncated } = await sandbox().files.grep(text, {
      ...(path ? { path: inside(path) } : {}),
      ...(glob ? { glob } : {}),
      ...(maxCount ? { limit: maxCount } : {}),
      signal: currentRun().work.signal,
    });
    return { matches: matches.map((match) => ({ ...match, path: `/${match.path}` })), truncated };
  });
}

function glob(pattern: string, path?: string): Promise<GlobResult> {
  return orError(async (): Promise<GlobResult> => {
    const found = await sandbox().files.glob(pattern.replace(/^\/+/, ""), {
      ...(path ? { path: inside(path) } : {}),
      signal: currentRun().work.signal,
    });
    return { files: found.files.map(toInfo), truncated: found.truncated };
  });
}

function remove(path: string) {
  return orError(async () => {
    await follow(sandbox().files.delete(inside(path)), () => `Deleted ${path}`);
    return { path };
  });
}

/** The true exit code goes with the call, since the tool only gives text on. */
async function execute(command: string): Promise<ExecuteResponse> {
  const scope = currentRun();
  const { work, sandbox: box } = scope;
  const call = currentCall();
  const about = { ...call?.about, tool_call_id: call?.tool_call_id ?? "" };
  try {
    const running = box.execute(command, {
      ...stopOrLeave(work.signal),
      ...commandId(call),
      onOutput: (content) => {
        if (!scope.closed) work.log.emit("tool_output", { ...about, content });
      },
    });
    const result = await follow(running, ({ output }) => output);
    if (call) call.exit_code = result.exit_code;
    noteFailed(false);
    const late = result.timed_out ? `\n[The command was stopped: it took longer than allowed]` : "";
    return { output: result.output + late, exitCode: result.exit_code, truncated: result.truncated };
  } catch (error) {
    if (!isAppError(error, ...FOR_THE_MODEL)) throw error;
    noteFailed(true);
    return { output: error.message, exitCode: null, truncated: false };
  }
}

/**
 * By the call's own name, under which a later attempt finds it again, on this machine. A tool may run several commands, one
 * after another: made again, they come in the same order.
 */
function commandId(call: CallScope | undefined): { id?: string } {
  if (!call) return {};
  call.commands = (call.commands ?? 0) + 1;
  return { id: call.commands === 1 ? call.idempotency_key : `${call.idempotency_key}.${call.commands}` };
}

/** Whoever goes on with the run, on this host, goes on with its commands. */
const ANOTHERS: readonly ErrorCode[] = ["draining", "stale_epoch", ...AWAY];

/** A node that shuts down or has lost the run leaves its commands; every other reason to stop stops them. */
function stopOrLeave(signal: AbortSignal): { signal: AbortSignal; detach: AbortSignal } {
  const stop = new AbortController();
  const leave = new AbortController();
  const onAbort = () => (isAppError(signal.reason, ...ANOTHERS) ? leave : stop).abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { signal: stop.signal, detach: leave.signal };
}
