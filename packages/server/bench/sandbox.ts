import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Docker from "dockerode";
import { findBubblewrap } from "../../../testing/bubblewrap.ts";
import { startDocker } from "../../../testing/docker.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { createSandboxes, type SandboxesOptions } from "../src/sandbox/create-sandboxes.ts";

/** How long `true` takes in each sandbox, beside a plain process and an exec of the engine's. */
const { values } = parseArgs({ options: { rounds: { type: "string", default: "100" }, out: { type: "string" } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds must be a whole number from 1");

interface Row {
  readonly what: string;
  readonly first_ms: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

interface Side {
  readonly what: string;
  run(): Promise<unknown>;
}

const WARM_UP = 5;
const temp = createTempDir();
const workspace = join(temp.path, "workspace");
mkdirSync(workspace);
const closings: (() => Promise<unknown>)[] = [];
const rows = await measure(await openSides());
for (const close of closings.reverse()) await close();
temp.remove();
const report = { date: new Date().toISOString().slice(0, 10), rounds, cores: cpus().length, load: loadavg()[0], rows };
process.stdout.write(`${table(rows)}\n`);
if (values.out) writeReport(values.out);

async function openSides(): Promise<Side[]> {
  const bubblewrap = findBubblewrap();
  const engine = await startDocker();
  const sides: Side[] = [{ what: "plain spawn", run: () => once(spawn("true"), "exit") }];
  sides.push(...(await openSandbox("local", { backend: "local" })));
  if ("file" in bubblewrap)
    sides.push(...(await openSandbox("bubblewrap", { backend: "bubblewrap", bubblewrap: bubblewrap.file })));
  if ("host" in engine) {
    closings.push(engine.stop);
    sides.push(await openExec(engine.host, engine.image));
    sides.push(...(await openSandbox("docker", { backend: "docker", docker: { ...engine, owner: temp.path } })));
  }
  return sides;
}

/** With an id, as every command of an agent has one, and without. */
async function openSandbox(what: string, options: Pick<SandboxesOptions, "backend" | "bubblewrap" | "docker">) {
  const commandFolder = join(temp.path, "commands", what);
  const sandboxes = await createSandboxes({ environment: process.env, commandFolder, ...options });
  closings.push(() => sandboxes.close());
  const sandbox = await sandboxes.open(what, workspace);
  let serial = 0;
  const supervised = async () => {
    const id = `call ${++serial}`;
    await sandbox.execute("true", { id });
    await sandbox.forget(id);
  };
  return [
    { what, run: () => sandbox.execute("true") },
    { what: `${what}, supervised`, run: supervised },
  ];
}

async function openExec(host: string, image: string): Promise<Side> {
  const docker = new Docker({ socketPath: host.replace("unix://", "") });
  const container = await docker.createContainer({ Image: image, Cmd: ["sleep", "3600"] });
  await container.start();
  closings.push(() => container.remove({ force: true }));
  const run = async () => {
    const exec = await container.exec({ Cmd: ["true"], AttachStdout: true, AttachStderr: true });
    const stream = await exec.start({ hijack: true, stdin: false });
    stream.resume();
    await once(stream, "end");
    await exec.inspect();
  };
  return { what: "docker exec", run };
}

/** In turn, so that whatever else the machine does meets all of them alike. */
async function measure(sides: readonly Side[]): Promise<Row[]> {
  const times = sides.map((): number[] => []);
  for (let n = 0; n < rounds + WARM_UP; n++) {
    for (const [index, { run }] of sides.entries()) {
      const before = performance.now();
      await run();
      times[index]?.push(performance.now() - before);
    }
  }
  return sides.map(({ what }, index) => summarise(what, times[index] ?? []));
}

function summarise(what: string, times: readonly number[]): Row {
  const sorted = times.slice(WARM_UP).sort((a, b) => a - b);
  const at = (part: number) => round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
  return { what, first_ms: round(times[0] ?? 0), p50_ms: at(0.5), p95_ms: at(0.95) };
}

function round(ms: number): number {
  return Number(ms.toPrecision(3));
}

function table(all: readonly Row[]): string {
  const lines = all.map(({ what, first_ms, p50_ms, p95_ms }) => `| ${what} | ${first_ms} | ${p50_ms} | ${p95_ms} |`);
  return ["| `true` in | first ms | p50 ms | p95 ms |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

function writeReport(folder: string): void {
  const { date, cores, load } = report;
  const about = readFileSync(new URL("./sandbox-about.md", import.meta.url), "utf8");
  const header = `# Sandboxes, measured

Generated by \`npm run bench:sandbox\` on ${date}; ${cores} cores, ${process.platform} ${process.arch}, Node ${process.version},
load average ${load?.toFixed(2)} (the benchmark itself is one). Don't edit; run it again. The figures are in \`sandbox.json\` too.
`;
  writeFileSync(join(folder, "sandbox.md"), `${header}\n${about}\n${table(rows)}\n`);
  writeFileSync(join(folder, "sandbox.json"), `${JSON.stringify(report, null, 2)}\n`);
}
