import { type Client, isAppError } from "@cognition/client";
import type { Message } from "@cognition/contract";
import { button, byId, element } from "./element.ts";
import type { LogView } from "./log-view.ts";
import { oneLine, textOf } from "./words.ts";

export interface GoingBackParts {
  readonly client: Client;
  readonly session_id: string;
  readonly view: LogView;
  /** What somebody wrote and took back, to be written otherwise. */
  readonly onTakenBack: (text: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The conversation and its files, to an earlier point: in place, or as a conversation of its own. */
export interface GoingBack {
  /** Takes back the last message and all that came of it. */
  undo(): void;
  /** Below an answer at which a turn has ended. */
  offer(message: Message): void;
  /** It stands elsewhere now, whoever moved it: there is a way to where it stood. */
  moved(previous_head: string | null): void;
  /** Something new goes on from here. */
  settled(): void;
}

type Point = NonNullable<Parameters<Client["rewindSession"]>[1]>;

/** So many names of files are told; a person needs no more to know what is meant. */
const FILES_NAMED = 5;

export function createGoingBack({ client, session_id, view, onTakenBack, onError }: GoingBackParts): GoingBack {
  const line = byId("p", "moved");

  function tell(words: string, action: string, act: () => void): void {
    const way = button(action, () => {
      line.replaceChildren();
      act();
    });
    line.replaceChildren(element("span", {}, words), way);
  }

  async function go(point: Point): Promise<boolean> {
    try {
      await client.rewindSession(session_id, point);
      return true;
    } catch (error) {
      if (!isAppError(error, "file_conflict") || point.force) throw error;
      const files = error.details["files"] as string[];
      const more = files.length > FILES_NAMED ? " …" : "";
      const named = oneLine(`${files.slice(0, FILES_NAMED).join(", ")}${more}`, 200);
      tell(`Nothing was changed: somebody else has changed ${named} since.`, "Overwrite it all the same", () => {
        go({ ...point, force: true }).catch(onError);
      });
      return false;
    }
  }

  async function undo(): Promise<void> {
    const { messages } = await client.getMessages(session_id, { role: "user", limit: 1 });
    if (await go({ last: "turn" })) onTakenBack(textOf(messages[0]?.content ?? ""));
  }

  async function branch(message_id: string): Promise<void> {
    location.hash = (await client.forkSession(session_id, { message_id })).id;
  }

  return {
    undo: () => void undo().catch(onError),
    offer({ id, role, tool_calls, content }) {
      if (role !== "assistant" || tool_calls.length > 0 || textOf(content) === "") return;
      view.place(`${id} back`, 0, () => {
        const back = button("Back to here", () => void go({ message_id: id }).catch(onError), "here");
        const apart = button("Branch", () => void branch(id).catch(onError));
        return element("p", { className: "back" }, back, apart);
      });
    },
    moved(previous_head) {
      line.replaceChildren();
      if (previous_head === null) return;
      tell("The conversation and its files were put back.", "Undo that", () => {
        go({ checkpoint_id: previous_head }).catch(onError);
      });
    },
    settled: () => line.replaceChildren(),
  };
}
