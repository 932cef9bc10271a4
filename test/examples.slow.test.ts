import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createTempDir } from "../testing/temp-dir.ts";

const root = join(import.meta.dirname, "..");

/** As a person would run it, with no key and no service. */
async function run(
  example: string,
  input: string,
  workspace: string,
): Promise<{ code: number | null; output: string }> {
  const env = { PATH: process.env["PATH"], COGNITION_WORKSPACE_ROOT: workspace };
  const node = ["--conditions=cognition-source", join(root, "examples", example)];
  const child = spawn(process.execPath, node, { cwd: root, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.end(input);
  const output = await text(child.stdout);
  return { code: await ended, output };
}

async function shell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-c", `no_proxy=127.0.0.1 ${command}`]);
  return stdout;
}

describe("the examples", () => {
  it("npm start: a server that answers with no key and no service", async () => {
    const dir = createTempDir();
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const [, ...words] = scripts.start.split(" ");
    const env = { PATH: process.env["PATH"], HOME: dir.path, COGNITION_WORKSPACE_ROOT: dir.path };
    const server = spawn(process.execPath, [...words, "--port", "0", "--ready-fd", "3"], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "ignore", "pipe"],
    });
    const ended = once(server, "exit");
    let greeting = "";
    (server.stdout as Readable).setEncoding("utf8").on("data", (part: string) => {
      greeting += part;
    });
    try {
      const { url } = JSON.parse(String((await once(server.stdio[3] as Readable, "data"))[0]));
      // What it says to try, as it says it.
      await expect.poll(() => greeting).toContain("Ctrl-C stops it");
      const [make = "", send = ""] = greeting.match(/curl .*/g) ?? [];
      const { id } = JSON.parse(await shell(make)) as { id: string };
      const events = await shell(send.replace("<id>", id));
      expect(events).toContain("event: tool_call");
      expect(events).toMatch(/event: done\ndata: .*"succeeded"/);
      expect((await fetch(`${url}/docs`)).status).toBe(200);
    } finally {
      server.kill("SIGINT");
      expect(await ended).toEqual([0, null]);
      dir.remove();
    }
  });

  it("npm run demo: a job that is killed goes on in another process", async () => {
    const dir = createTempDir();
    try {
      const { code, output } = await run("quickstart.ts", "", dir.path);
      expect(code).toBe(0);
      expect(output).toContain('kept: 5 messages, the last says "step 4 of 8"');
      expect(output.match(/here: {2}step \d/g)).toEqual([
        "here:  step 5",
        "here:  step 6",
        "here:  step 7",
        "here:  step 8",
      ]);
      expect(output).toContain("step 3 of 8 | And now something else.");
    } finally {
      dir.remove();
    }
  });
});
