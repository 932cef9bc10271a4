import type { Client, FollowOptions, RunStream } from "@cognition/client";
import { type Interrupt, isAppError, type Session } from "@cognition/contract";
import { misuse } from "../command.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { errorText } from "../terminal/error-text.ts";
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
  /** What the user types later to do that on the same server. */
  readonly again: (what: string) => string;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  /** Calls this when nobody is there any more: the output is closed, or the process is told to end. */
  readonly onGone: (leave: () => void) => void;
}

interface State extends ConversationParts {
  session: Session | undefined;
  running: boolean;
  /** Whether the last run ended well. */
  succeeded: boolean;
  aborting: boolean;
  /** The last abort has been answered: a message sent before that would be refused by a run that still waits. */
  stopped: Promise<void>;
  readonly interrupts: Interrupts;
}

const HELP = `  /undo     takes back your last message and what came of it
  /session  shows this session's id
  /exit     leaves; the conversation is kept`;

/** One word. A path, or code that begins with a comment, has more of a slash and is a message. */
const ORDER = /^\/[a-z]*(\s|$)/i;

/** Talks until the input ends or the user leaves. Gives the exit code. */
export async function converse(parts: ConversationParts): Promise<number> {
  const { prompt, say } = parts;
  const interrupts = createInterrupts({ stop: () => stop(state), onLeave: prompt.close, say });
  const state: State = {
    ...parts,
    running: false,
    succeeded: true,
    aborting: false,
    stopped: Promise.resolve(),
    interrupts,
  };
  prompt.onInterrupt(interrupts.notice);
  parts.onGone(interrupts.leave);
  let code = await attempt(state, () => pickUp(state));
  while (!interrupts.leaving) {
    const line = await prompt.ask("> ");
    if (line === undefined) break;
    interrupts.forget();
    const content = line.trim();
    if (content !== "")
      code = await attempt(state, () => (ORDER.test(content) ? obey(state, content) : send(state, content)));
  }
  // A person has read what went wrong; a script has only the code.
  return prompt.interactive ? EXIT.ok : code;
}

function stop(state: State): boolean {
  const { running, session, client, prompt, say } = state;
  if (!running || !session) return false;
  state.aborting = true;
  prompt.cancel(); // what it asked needs no answer any more
  state.stopped = client.abortSession(session.id).then(
    () => undefined,
    (error: unknown) => say(`  ${errorText(error)}`),
  );
  return true;
}

/** What an earlier process left: a run that still works, or one that waits for an answer. */
async function pickUp(state: State): Promise<void> {
  const { session, client } = state;
  if (!session) return;
  const { approvals } = await client.listApprovals({ session_id: session.id });
  const waiting = approvals.filter(({ status }) => status === "waiting");
  const { id, active_run_id } = session;
  if (waiting.length > 0) await show(state, () => answer(state, waiting));
  else if (active_run_id) await show(state, async () => client.followRun(id, active_run_id, followOptions(state)));
}

async function send(state: State, content: string): Promise<void> {
  const { client, agent, model } = state;
  await state.stopped;
  state.session ??= await client.createSession(
    { title: oneLine(content, 80), ...(agent !== undefined && { agent_name: agent }) },
    { signal: state.interrupts.signal },
  );
  const { id } = state.session;
  const options = { ...followOptions(state), ...(model !== undefined && { model }) };
  await show(state, async () => client.sendMessage(id, content, options));
}

/** A server that is away is waited for, which the user must know. */
function followOptions({ interrupts, say }: State): FollowOptions {
  let lost = false;
  return {
    signal: interrupts.signal,
    onLost: ({ error }) => {
      if (!lost)
        say(`\n  (${error ? errorText(error) : "the connection was lost"}; trying again. Ctrl-C twice leaves)`);
      lost = true;
    },
    onReconnect: () => {
      if (lost) say("  (connected again)");
      lost = false;
    },
  };
}

/** To the run's end, through as many questions as it has. */
async function show(state: State, begin: () => Promise<RunStream | undefined>): Promise<void> {
  state.running = true;
  try {
    for (let next = await begin(); next && !state.interrupts.leaving; ) {
      const asked: readonly Interrupt[] = await follow(state, next);
      next = asked.length > 0 ? await answer(state, asked) : undefined;
    }
  } finally {
    state.running = false;
    state.interrupts.forget();
  }
}

/** Gives what the stream ended with, if that is a question; one in its middle has been answered already. */
async function follow(state: State, stream: RunStream): Promise<readonly Interrupt[]> {
  const { printer, interrupts } = state;
  let asked: readonly Interrupt[] = [];
  for await (const event of stream) {
    printer.print(event);
    if (event.event === "done") state.succeeded = event.data.status === "succeeded";
    asked = event.event === "interrupt" ? event.data.interrupts : [];
    if (interrupts.leaving) break;
  }
  return asked;
}

async function answer(state: State, asked: readonly Interrupt[]): Promise<RunStream | undefined> {
  const { client, prompt, say, session, again } = state;
  const decisions = await askDecisions(asked, prompt, say);
  if (decisions) state.printer.answered();
  else if (session && !state.aborting) {
    say(`  (it waits for your answer; \`${again(`chat --session ${session.id}`)}\` goes on with it)`);
    state.succeeded = false;
  }
  return decisions && session && client.resumeAndFollow(session.id, { decisions }, followOptions(state));
}

async function obey({ client, session, say, interrupts }: State, order: string): Promise<void> {
  if (order === "/exit") interrupts.leave();
  else if (order === "/session") say(`  ${session?.id ?? "none yet"}`);
  else if (order === "/help") say(HELP);
  else if (order !== "/undo") throw misuse(`there is no ${oneLine(order, 40)} here:\n${HELP}`);
  else if (!session) say("  (there is nothing to take back yet)");
  else {
    await client.rewindSession(session.id, { last: "turn" });
    say("  (your last message and what came of it are taken back)");
  }
}

/** Gives the exit code. What the server refused is said, and the conversation goes on. */
async function attempt(state: State, work: () => Promise<void>): Promise<number> {
  state.succeeded = true;
  state.aborting = false;
  try {
    // Whoever leaves does not wait for a server that is silent.
    await Promise.race([work(), state.interrupts.left]);
    return state.succeeded ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (state.interrupts.leaving) return EXIT.ok; // whatever was cut off by that is kept
    if (!isAppError(error)) throw error;
    state.say(`  ${errorText(error)}`);
    return exitCodeOf(error);
  }
}
