import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { Command } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { OFFICIAL_FOLDER } from "../../bench/official-packages.ts";
import { openOfficial } from "../../bench/open-official.ts";
import { importThreads, openStorage } from "../../src/index.ts";
import { fillThreads, historyOf, questionGraph, threadConfig } from "../import-graph.ts";

/** The official savers come from their own folder; what they build on is the workspace's, as in an app that has both. */
const folder = pathToFileURL(`${OFFICIAL_FOLDER}/package.json`).href;
registerHooks({
  resolve: (specifier, context, next) => {
    if (/^@langchain\/langgraph-checkpoint-/.test(specifier)) return next(specifier, { ...context, parentURL: folder });
    if (/^@langchain\//.test(specifier)) return next(specifier, { ...context, parentURL: import.meta.url });
    return next(specifier, context);
  },
});

const [engine = "", place = "", target = ""] = process.argv.slice(2);
const official = await openOfficial({ engine } as Parameters<typeof openOfficial>[0], place);
const source = official.saver as BaseCheckpointSaver;
await fillThreads(source);
const storage = await openStorage(target);
const saver = await storage.getCheckpointer();
const report = await importThreads(source, saver);
const histories = await Promise.all(
  ["done", "waiting"].map(async (id) => ({
    there: await historyOf(source, id),
    here: await historyOf(saver, id),
  })),
);
const answer = new Command({ resume: 7 }) as never;
const { steps, messages } = await questionGraph(saver).invoke(answer, threadConfig("waiting"));
const { id: session_id } = await storage.createSession({ thread_id: "waiting" });
await storage.rebuildMessages(session_id);
const rows = await storage.listMessagesForSession(session_id);
await storage.close();
await official.close();
process.stdout.write(
  JSON.stringify({
    report,
    histories,
    steps,
    messages: messages.map(({ content }) => content),
    rows: rows.map(({ role, content }) => [role, content]),
  }),
);
