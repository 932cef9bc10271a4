import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestServer } from "./test-server.ts";

const GUIDE = readFileSync(join(import.meta.dirname, "../../../../docs/guide/http.md"), "utf8");
const MARK = "--- next example ---";

it("the examples of the HTTP guide work, in their order", async () => {
  const { server, faults } = await startTestServer();
  const examples = [...GUIDE.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, text]) => text);
  const child = spawn("bash", ["-e", "-o", "pipefail"], {
    env: { PATH: process.env["PATH"], URL: server.url },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(examples.join(`\necho; echo "${MARK}"\n`));
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = (await once(child, "close")) as [number];
  expect(code, output).toBe(0);
  const [made, message, again, files, error] = output.split(MARK);
  expect(made?.trim()).toBe("");
  expect(message).toMatch(
    /^\s*retry: 3000\nid: 0\n\nid: 1\nevent: status\n[\s\S]*\nevent: done\ndata: [^\n]*"succeeded"/,
  );
  expect(again).toMatch(/event: reconnected\ndata: \{"last_event_id":3,[^\n]*\n\nid: 4\n/);
  expect(files?.trim().split("\n")).toEqual(["hellodata/", "data/list.csv", "notes.txt"]);
  expect(error).toContain('"code":"session_not_found"');
  expect(faults).toEqual([]);
});
