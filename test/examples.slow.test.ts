import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
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

describe("the examples", () => {
  it("npm start: an agent that works, and a conversation that goes on in the next process", async () => {
    const dir = createTempDir();
    try {
      const first = await run("chat.ts", "Create a file named notes.txt containing exactly the word hello\n", dir.path);
      expect(first).toMatchObject({ code: 0, output: expect.stringContaining("write_file") });
      expect(readFileSync(join(dir.path, "notes.txt"), "utf8")).toBe("hello");
      const second = await run("chat.ts", "What did I say first?\n", dir.path);
      expect(second.output).toContain("This conversation has 4 messages; it goes on.");
      expect(second.output).toMatch(/first said: "Create a file named notes.txt/);
    } finally {
      dir.remove();
    }
  });

  it("npm run demo: a job that is killed goes on in another process", async () => {
    const dir = createTempDir();
    try {
      const { code, output } = await run("quickstart.ts", "", dir.path);
      expect(code).toBe(0);
      expect(output).toMatch(/kept: \d messages, the last says "step [345] of 8"/);
      expect(output).toContain("here:  step 8 of 8");
      expect(output).toContain("step 3 of 8 | And now something else.");
    } finally {
      dir.remove();
    }
  });
});
