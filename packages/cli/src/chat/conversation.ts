import type { Client, RunStream } from "@cognition/client";
import { type Interrupt, isAppError, type Session } from "@cognition/contract";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../terminal/print.ts";
import { askDecisions } from "./ask-decisions.ts";
import type { EventPrinter } from "./event-printer.ts";
import { createInterrupts, type Interrupts } from "./interrupts.ts";
import type { Prompt } from "./prompt.ts";

export interface ConversationParts {
  readonly client: Client;
  readonly prompt: Prompt;
  readonly printer: EventPrinter;
  /** For the user alone: hints and errors. */
  readonly say: (text: string) => void;
  /** Made with the first message where there is none. */
  readonly session: Session | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
}

interface State extends ConversationParts {
  session: Session | undefined;
  running: boolean;
  readonly interrupts: Interrupts;
}

const HELP = `  /undo     takes back your last message and what came of it
  /session  shows this session's id
  /exit     leaves; the conversation is kept`;

/** Talks until the input ends or the user leaves. Gives the exit code. */
export async function converse(parts: ConversationParts): Promise<number> {
  const { prompt, say } = parts;
  const interrupts = createInterrupts({ stop: () => stop(state), onLeave: prompt.close, say });
  const state: State = { ...parts, running: false, interrupts };
  prompt.onInterrupt(interrupts.notice);
  let ok = await attempt(say, () => pickUp(state));
  while (!interrupts.leaving) {
    const line = await prompt.ask("> ");
    if (line === undefined) break;
    interrupts.forget();
    const content = line.trim();
    if (content !== "")
      ok = await attempt(say, () => (content.startsWith("/") ? obey(state, content) : send(state, content)));
  }
  // A person has read what went wrong; a script has only the code.
  return ok || prompt.interactive ? EXIT.ok : EXIT.failed;
}

function stop({ running, session, client, say }: State): boolean {
  if (!running || !session) return false;
  client.abortSession(session.id).catch((error: unknown) => say(`  ${messageOf(error)}`));
  return true;
}

/** What an earlier process left: a run that still works, or one that waits for an answer. */
async function pickUp(state: State): Promise<void> {
  const { session, client } = state;
  if (!session) return;
  const { approvals } = await client.listApprovals({ session_id: session.id });
  const waiting = approvals.filter(({ status }) => status === "waiting");
  if (waiting.length > 0) {
    const stream = await answer(state, waiting);
    if (stream) await show(state, stream);
  } else if (session.active_run_id) {
    await show(state, client.followRun(session.id, session.active_run_id));
  }
}

async function send(state: State, content: string): Promise<void> {
  const { client, agent, model } = state;
  state.session ??= await client.createSession({
    title: oneLine(content, 80),
    ...(agent !== undefined && { agent_name: agent }),
  });
  await show(state, client.sendMessage(state.session.id, content, model === undefined ? {} : { model }));
}

/** To the run's end, through as many questions as it has. */
async function show(state: State, stream: RunStream): Promise<void> {
  state.running = true;
  try {
    for (let next: RunStream | undefined = stream; next && !state.interrupts.leaving; ) {
      const asked: readonly Interrupt[] = await follow(state, next);
      next = asked.length > 0 ? await answer(state, asked) : undefined;
    }
  } finally {
    state.running = false;
    state.interrupts.forget();
  }
}

async function follow({ printer, interrupts }: State, stream: RunStream): Promise<readonly Interrupt[]> {
  for await (const event of stream) {
    printer.print(event);
    if (event.event === "interrupt") return event.data.interrupts;
    if (interrupts.leaving) break;
  }
  return [];
}

async function answer({ client, prompt, say, session }: State, asked: readonly Interrupt[]) {
  const decisions = await askDecisions(asked, prompt, say);
  return decisions && session && client.resumeAndFollow(session.id, { decisions });
}

async function obey({ client, session, say, interrupts }: State, order: string): Promise<void> {
  if (order === "/exit") interrupts.leave();
  else if (order === "/session") say(`  ${session?.id ?? "none yet"}`);
  else if (order === "/undo" && session) {
    await client.rewindSession(session.id, { last: "turn" });
    say("  (your last message and what came of it are taken back)");
  } else say(HELP);
}

/** Whether it went well. What the server refused is said, and the conversation goes on. */
async function attempt(say: State["say"], work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    say(`  ${messageOf(error)}`);
    return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
