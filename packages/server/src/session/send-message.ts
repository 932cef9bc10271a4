import { randomUUID } from "node:crypto";
import { AppError, isAppError, isRunOutcome, type Message, type SendMessage, type Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import type { ModelRegistry } from "../model/model-registry.ts";
import type { RunEngine } from "../run/run-engine.ts";
import type { RunInput } from "../run/run-input.ts";
import { parseTraceparent } from "../telemetry/traceparent.ts";
import { afterMessage } from "../timeline/find-place.ts";
import { refuseCommands } from "./refuse-commands.ts";

export interface SendOptions {
  readonly storage: Pick<Storage, "getMessage" | "getMessagesBySession" | "timeline" | "getRun" | "findAdmittedRun">;
  readonly engine: Pick<RunEngine, "submit">;
  readonly agents: Pick<AgentRegistry, "findForSession" | "keep">;
  readonly models: Pick<ModelRegistry, "select">;
}

/** What can't work is refused before it is accepted: an agent that is gone, a model that nobody has. */
export async function sendMessage(
  options: SendOptions,
  session: Session,
  body: SendMessage,
  body_hash: string,
  traceparent?: string,
): ReturnType<RunEngine["submit"]> {
  const { idempotency_key: key, on_busy, content, callback_url } = body;
  const { agent_name } = session;
  refuseCommands(body.input, ["input"]);
  refuseCommands(body.context, ["context"]);
  const chosen = await choose(options, session, body).catch(async (error: unknown) => {
    // What was accepted before the agent or the model went stays accepted: sent again, it is told the same.
    const earlier = key === undefined ? null : await options.storage.findAdmittedRun(session.id, { key, body_hash });
    if (earlier) return earlier;
    throw error;
  });
  if ("run" in chosen) return { ...chosen, created: false };
  const { revision, selection } = chosen;
  const message_id = randomUUID();
  return options.engine.submit({
    session_id: session.id,
    agent_name,
    agent_revision: revision,
    model: selection.model,
    message: { id: message_id, role: "user", content, parent_id: body.parent_id ?? null },
    input: runInput(body, message_id, traceparent),
    trace_id: parseTraceparent(traceparent)?.trace_id ?? null,
    on_busy,
    ...(callback_url !== undefined && { callback_url }),
    ...(key !== undefined && { idempotency: { key, body_hash } }),
  });
}

async function choose(options: SendOptions, session: Session, { model, parent_id }: SendMessage) {
  const { scopes, config, agent_name } = session;
  const agent = await options.agents.findForSession(agent_name, scopes);
  const { definition, revision } = agent;
  const selection = await options.models.select({
    ...(model !== undefined && { message: { model } }),
    session: config,
    agent: { ...definition.config, model: definition.model },
    scope: scopes,
  });
  if (parent_id !== undefined) await requireParent(options, session, parent_id);
  await options.agents.keep(agent, scopes);
  return { revision, selection };
}

function runInput(
  { content, parent_id, model, input, context }: SendMessage,
  message_id: string,
  traceparent: string | undefined,
): RunInput {
  return {
    kind: "message",
    message_id,
    content,
    ...(parent_id !== undefined && { parent_id }),
    ...(model !== undefined && { model }),
    ...(input !== undefined && { input }),
    ...(context !== undefined && { context }),
    ...(parseTraceparent(traceparent) && { traceparent }),
  };
}

/** The run itself branches there, when its turn has come; what will never be a place to branch at is refused now. */
async function requireParent({ storage }: SendOptions, session: Session, parent_id: string): Promise<void> {
  const parent = await storage.getMessage(parent_id, { session_id: session.id });
  if (!parent) throw noParent(`is no message of session ${session.id}`);
  if (parent.checkpoint_id === null && (await isStillToCome(storage, parent))) return;
  await afterMessage(storage, session, parent_id).catch((error: unknown) => {
    if (!isAppError(error, "checkpoint_not_found")) throw error;
    throw noParent(
      "is no place to go on from: what followed it was pruned, is another session's, or nothing came of the message",
    );
  });
}

/** Its run has yet to take it up. */
async function isStillToCome({ getRun }: Pick<Storage, "getRun">, { run_id }: Message): Promise<boolean> {
  return run_id !== null && !isRunOutcome((await getRun(run_id)).status);
}

function noParent(msg: string): AppError {
  return new AppError("validation_failed", `parent_id ${msg}; nothing was stored`, {
    details: { errors: [{ loc: ["body", "parent_id"], msg }] },
  });
}
