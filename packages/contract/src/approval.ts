import { z } from "zod";
import { Id, idempotent } from "./id.ts";
import { JsonObject, JsonObjectInput, JsonValueInput } from "./json.ts";
import { MAX_DECISIONS, MAX_NAME_LENGTH, MAX_TEXT_LENGTH } from "./limits.ts";
import { pageInfo, paging } from "./page.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

export const DecisionType = z.enum(["approve", "edit", "reject", "respond"]);
export type DecisionType = z.infer<typeof DecisionType>;

/** What a run waits for: a tool call to be decided, or a value that a graph asked for. */
export const Interrupt = z.strictObject({
  id: z.string(),
  /** The subagent that asks; left out, it is the session's own agent. */
  agent: z.string().optional(),
  tool_call_id: z.string().optional(),
  tool_name: z.string().optional(),
  args: JsonObject.optional(),
  value: z.unknown().optional(),
  allowed_decisions: z.array(DecisionType),
  /** For whoever decides: what the agent's definition says of such a call, or why the question is asked at all. */
  description: z.string().optional(),
});
export type Interrupt = z.infer<typeof Interrupt>;

const answer = {
  args: JsonObjectInput.optional(),
  message: text("message", MAX_TEXT_LENGTH).optional(),
  value: JsonValueInput.optional(),
};

type Answer = { args?: unknown; message?: unknown; value?: unknown };

function lacks(type: DecisionType, given: Answer): string | undefined {
  if (type === "edit" && given.args === undefined) return "edit needs args";
  if (type === "respond" && given.message === undefined && given.value === undefined) {
    return "respond needs a message or a value";
  }
  return undefined;
}

export const Decision = z
  .strictObject({ id: Id.optional(), tool_call_id: Id.optional(), type: DecisionType, ...answer })
  .superRefine((decision, ctx) => {
    if ((decision.id === undefined) === (decision.tool_call_id === undefined)) {
      ctx.addIssue({ code: "custom", message: "a decision names either id or tool_call_id" });
    }
    const message = lacks(decision.type, decision);
    if (message) ctx.addIssue({ code: "custom", message });
  });
export type Decision = z.infer<typeof Decision>;

const listForm = {
  decisions: z
    .array(Decision)
    .min(1, { error: "decisions must not be empty" })
    .max(MAX_DECISIONS, { error: `decisions has more than the limit of ${MAX_DECISIONS} entries` })
    .optional(),
};
const singleForm = {
  decision: DecisionType.optional(),
  tool_call_id: Id.optional(),
  tool_name: text("tool_name", MAX_NAME_LENGTH * 4, 1).optional(),
  ...answer,
};

/** A list of decisions, or the single form; empty, it continues a run that failed or was aborted. */
export const ResumeSession = z
  .strictObject({ ...listForm, ...singleForm, ...idempotent })
  .superRefine(({ decisions, decision, idempotency_key: _, ...rest }, ctx) => {
    const fail = (message: string) => ctx.addIssue({ code: "custom", message });
    const others = Object.entries(rest).filter(([, value]) => value !== undefined);
    if (decision === undefined) {
      if (others.length > 0) fail(`${others.map(([name]) => name).join(", ")}: only beside decision`);
      return;
    }
    if (decisions !== undefined) fail("either decisions or decision, not both");
    if (rest.tool_call_id === undefined) fail("decision needs tool_call_id");
    if (rest.tool_name === undefined) fail("decision needs tool_name");
    const message = lacks(decision, rest);
    if (message) fail(message);
  });
export type ResumeSession = z.infer<typeof ResumeSession>;

/** Both forms as one list; empty for a body that answers nothing. */
export function decisionsOf(body: ResumeSession): Decision[] {
  if (body.decisions) return body.decisions;
  if (body.decision === undefined) return [];
  const { tool_call_id, args, message, value } = body;
  return [{ tool_call_id, type: body.decision, args, message, value }];
}

export const ApprovalStatus = z.enum(["waiting", "answered", "cancelled"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

export const Approval = Interrupt.extend({
  session_id: z.string(),
  run_id: z.string(),
  agent_name: z.string(),
  status: ApprovalStatus,
  decision: DecisionType.nullable(),
  created_at: Timestamp,
  answered_at: Timestamp.nullable(),
});
export type Approval = z.infer<typeof Approval>;

export const ListApprovals = z.strictObject({ ...paging, session_id: Id.optional() });
export type ListApprovals = z.infer<typeof ListApprovals>;

export const ApprovalPage = z.strictObject({ approvals: z.array(Approval), ...pageInfo });
export type ApprovalPage = z.infer<typeof ApprovalPage>;
