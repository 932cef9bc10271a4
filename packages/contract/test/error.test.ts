import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AppError, ERROR_CODES, ErrorCode, errorEntry, isAppError, Problem } from "../src/index.ts";
import { refusal } from "./refusal.ts";

const EXPECTED: Record<string, number> = {
  validation_failed: 422,
  idempotency_mismatch: 422,
  limit_exceeded: 422,
  unknown_agent: 422,
  unknown_backend: 422,
  unknown_provider: 422,
  unknown_config_key: 422,
  unserializable_value: 422,
  artifact_reason_required: 422,
  content_too_large: 413,
  session_not_found: 404,
  message_not_found: 404,
  run_not_found: 404,
  checkpoint_not_found: 404,
  artifact_not_found: 404,
  thread_not_found: 404,
  thread_deleted: 410,
  delivery_not_found: 404,
  approval_not_found: 404,
  profile_not_found: 404,
  task_not_found: 404,
  conversation_not_found: 404,
  chat_not_found: 404,
  store_item_not_found: 404,
  session_busy: 409,
  waiting_for_approval: 409,
  session_inactive: 409,
  already_answered: 409,
  nothing_waiting: 409,
  version_conflict: 409,
  precondition_failed: 412,
  stale_epoch: 409,
  concurrent_writer: 409,
  run_ended: 409,
  run_not_claimable: 409,
  too_many_attempts: 500,
  corrupt_data: 500,
  schema_too_new: 500,
  not_initialized: 500,
  outcome_unknown: 500,
  internal: 500,
  storage_unavailable: 503,
  storage_busy: 503,
  storage_closed: 503,
  scope_required: 403,
  scope_mismatch: 403,
  forbidden: 403,
  unauthorized: 401,
  rate_limited: 429,
  budget_exceeded: 402,
};

describe("error codes", () => {
  it("have a client or server status and a title, each once", () => {
    for (const { code, status, title } of ERROR_CODES) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(status, code).toBeLessThan(600);
      expect(title.length, code).toBeGreaterThan(5);
    }
    const codes = ERROR_CODES.map((entry) => entry.code);
    expect(new Set(codes).size).toBe(codes.length);
    const titles = ERROR_CODES.map((entry) => entry.title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  it.each(Object.entries(EXPECTED))("%s is %i", (code, status) => {
    expect(errorEntry(ErrorCode.parse(code)).status).toBe(status);
  });

  it("are a closed list", () => {
    expect(ErrorCode.safeParse("something_else").success).toBe(false);
    expect(() => errorEntry("something_else" as ErrorCode)).toThrow("something_else");
  });
});

describe("AppError", () => {
  it("keeps code, message, details and cause", () => {
    const cause = new Error("disk");
    const error = new AppError("storage_unavailable", "cannot write", { details: { path: "x" }, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "AppError", code: "storage_unavailable", message: "cannot write" });
    expect(error.details).toEqual({ path: "x" });
    expect(error.cause).toBe(cause);
  });

  it("has no cause and no details unless given", () => {
    const error = new AppError("internal", "x");
    expect("cause" in error).toBe(false);
    expect(error.details).toEqual({});
  });

  it("is told from other errors, also by code", () => {
    const error = new AppError("run_ended", "x");
    expect(isAppError(error)).toBe(true);
    expect(isAppError(error, "run_not_found", "run_ended")).toBe(true);
    expect(isAppError(error, "run_not_found")).toBe(false);
    expect(isAppError(Object.assign(new Error("x"), { code: "run_ended" }))).toBe(false);
    expect(isAppError({ code: "run_ended" })).toBe(false);
    expect(isAppError(undefined)).toBe(false);
  });

  it("is recognised from another copy of the package", async () => {
    // A query makes the loader evaluate the module a second time.
    const copy = (await import(`../src/app-error.ts?${"copy"}`)) as { AppError: typeof AppError };
    expect(copy.AppError).not.toBe(AppError);
    expect(isAppError(new copy.AppError("internal", "x"))).toBe(true);
  });
});

describe("parseInput", () => {
  it("names each place and what is wrong there", () => {
    const schema = z.strictObject({ a: z.strictObject({ b: z.array(z.int()) }) });
    const error = refusal(schema, { a: { b: [1, "x"] }, c: 1 });
    expect(error.code).toBe("validation_failed");
    const errors = error.details.errors as { loc: unknown[]; msg: string }[];
    expect(errors.map((issue) => issue.loc)).toEqual([["body", "a", "b", 1], ["body"]]);
    expect(error.message).toContain("body.a.b.1");
    expect(error.message).toContain('"c"');
    const problem = { type: "about:blank", title: "t", status: 422, detail: error.message, code: error.code, errors };
    expect(Problem.parse(problem)).toEqual(problem);
  });

  it("does not send a huge key back", () => {
    const key = "k".repeat(1_000_000);
    expect(refusal(z.strictObject({}), { [key]: 1 }).message.length).toBeLessThan(1000);
    expect(refusal(z.record(z.string().max(3), z.string()), { [key]: "" }).message.length).toBeLessThan(1000);
  });

  it("names the first of many places, and says how many there are", () => {
    const error = refusal(z.array(z.string()), Array(1_000).fill(1));
    expect(error.details.errors).toHaveLength(100);
    expect(error.message).toMatch(/; and 900 more$/);
  });
});
