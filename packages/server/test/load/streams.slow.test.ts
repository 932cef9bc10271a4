import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, inject, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { median } from "../../../thread/bench/statistics.ts";
import type { LoadNodeLine, LoadNodeOptions } from "./load-node.ts";
import { openLoadStreams } from "./load-streams.ts";

const SECONDS = inject("short") ? 10 : 60;
const STREAMS = 1_000;
/** Twenty people follow each conversation. */
const SESSIONS = 50;
const PER_SECOND = 10;
/** What memory may be at the end, of what it was once all had come. */
const MOST_GROWTH = 1.3;
const MIB = 1024 * 1024;

/** The rate it was offered; the one the machine held is printed, and what is asserted holds at any. */
const OFFERED = `${PER_SECOND} live events a second for ${SECONDS} s`;

it(`${STREAMS} streams of one node, offered ${OFFERED}, each get every event in order; memory is bounded`, async () => {
  const events = SECONDS * PER_SECOND;
  const dir = createTempDir("cognition-load-");
  const node = startNode({
    uri: join(dir.path, "state.db"),
    root: dir.path,
    sessions: SESSIONS,
    events,
    per_second: PER_SECOND,
  });
  onTestFinished(async () => {
    await node.kill();
    dir.remove();
  });
  const { url, session_ids } = await node.heard("url");
  const streams = await openLoadStreams(url, session_ids, { count: STREAMS, until: events });
  onTestFinished(streams.close);

  const begun = performance.now();
  node.go();
  const [{ told_in_ms }] = await Promise.all([node.heard("told_in_ms"), streams.finished]);
  const seconds = (performance.now() - begun) / 1_000;

  const third = Math.floor(node.samples.length / 3);
  const thirds = [node.samples.slice(0, third), node.samples.slice(-third)];
  const [early, late] = thirds.map((some) => median(some.map(({ held }) => held))) as [number, number];
  const rss = thirds.map((some) => median(some.map((sample) => sample.rss))) as [number, number];
  console.log(
    `${STREAMS} streams, ${events} events each in ${seconds.toFixed(1)} s: ${(events / seconds).toFixed(2)} events/s on each, ` +
      `${Math.round((events * STREAMS) / seconds)}/s in all; committed in ${(told_in_ms / 1_000).toFixed(1)} s; ` +
      `held ${Math.round(early / MIB)} MiB in the first third, ${Math.round(late / MIB)} MiB in the last; ` +
      `RSS ${rss.map((bytes) => Math.round(bytes / MIB)).join(" and ")} MiB`,
  );
  expect(streams.faults).toEqual([]);
  expect(streams.last).toEqual(Array.from({ length: STREAMS }, () => events));
  expect(new Set(node.samples.map((sample) => sample.streams))).toEqual(new Set([STREAMS]));
  expect(third).toBeGreaterThan(5);
  expect(late / early).toBeLessThan(MOST_GROWTH);
});

type Heard<K extends string> = Extract<LoadNodeLine, Record<K, unknown>>;

function startNode(options: LoadNodeOptions) {
  const file = fileURLToPath(new URL("./load-node.ts", import.meta.url));
  const args = [
    "--conditions=cognition-source",
    "--disable-warning=ExperimentalWarning",
    "--expose-gc",
    file,
    JSON.stringify(options),
  ];
  const child = spawn(process.execPath, args, { stdio: "pipe" });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const exited = once(child, "exit");
  const samples: Heard<"rss">[] = [];
  const waiting = new Map<string, (line: LoadNodeLine) => void>();
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as LoadNodeLine;
    if ("rss" in line) samples.push(line);
    for (const [key, resolve] of waiting) if (key in line) resolve(line);
  });
  return {
    samples,
    go: () => void child.stdin.write("go\n"),
    heard: <K extends "url" | "told_in_ms">(key: K): Promise<Heard<K>> =>
      new Promise((resolve, reject) => {
        waiting.set(key, (line) => resolve(line as Heard<K>));
        void exited.then(() => reject(new Error(`the node ended before it said ${key}: ${errors}`)));
      }),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
