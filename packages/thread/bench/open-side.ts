import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { openLeast } from "./least-saver.ts";
import { NullSaver } from "./null-saver.ts";
import { openOfficial } from "./open-official.ts";
import type { Side } from "./sides.ts";

export interface OpenSide {
  readonly saver: BaseCheckpointSaver | undefined;
  /** Commits so far that waited for the disk. */
  durableCommits(): number;
  close(): Promise<void>;
}

/** Where a side keeps its data: the path of a file, the URL of a database, or nothing. */
export type Place = string | undefined;

export async function openSide(side: Side, place: Place): Promise<OpenSide> {
  if (side.engine === "none") {
    const saver = side.name === "null" ? new NullSaver() : undefined;
    return { saver, durableCommits: () => 0, close: async () => undefined };
  }
  if (side.kind === "floor") return openLeast(side, place);
  return side.kind === "official" ? openOfficial(side, place) : openOurs(side, place);
}

async function openOurs({ engine }: Side, place: Place): Promise<OpenSide> {
  // Imported here, since the official side's process has LangChain packages of its own.
  const { openStorage } = await import("../src/open-storage.ts");
  let commits = 0;
  const storage = await openStorage({
    uri: place ?? "memory",
    failpoint: (point) => {
      if (point === "committed") commits++;
    },
  });
  return {
    saver: (await storage.getCheckpointer()) as BaseCheckpointSaver,
    durableCommits: () => (engine === "memory" ? 0 : commits),
    close: () => storage.close(),
  };
}
