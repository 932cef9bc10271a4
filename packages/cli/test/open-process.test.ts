import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import type { Context } from "../src/context.ts";
import { openProcess } from "../src/open-process.ts";

type Process = Parameters<typeof openProcess>[0];

function fakeProcess(over: Partial<Record<"stdout" | "cwd", unknown>> = {}) {
  const said: string[] = [];
  const stderr = new Writable({ write: (part, _, done) => done(void said.push(String(part))) });
  const parts = { env: {}, cwd: () => "/here", stdin: new PassThrough(), stdout: new PassThrough(), stderr, ...over };
  return { process: Object.assign(new EventEmitter(), parts) as unknown as Process, said };
}

/** An output whose every write fails so. */
function failing(code: string): Writable {
  return new Writable({ write: (_, __, done) => done(Object.assign(new Error(`write ${code}`), { code })) });
}

const speak = async ({ output }: Context) => {
  output.write("something");
  return 0;
};

test("a reader that has gone, as in `… | head`, is no fault", async () => {
  const { process, said } = fakeProcess({ stdout: failing("EPIPE") });
  expect(await openProcess(process, speak)).toBe(0);
  expect(said).toEqual([]);
});

test("a full disk is one", async () => {
  const { process, said } = fakeProcess({ stdout: failing("ENOSPC") });
  expect(await openProcess(process, speak)).toBe(1);
  expect(said.join("")).toContain("could not be written: write ENOSPC");
});

test("a user whom the system does not know has no home, and needs none", async () => {
  const { process } = fakeProcess();
  const home = () => {
    throw new Error("uv_os_homedir returned ENOENT");
  };
  let seen: Context | undefined;
  const run = async (context: Context) => {
    seen = context;
    return 0;
  };
  expect(await openProcess(process, run, home)).toBe(0);
  expect(seen).toMatchObject({ cwd: "/here", home: undefined });
});

test("a folder that is gone is told", async () => {
  const cwd = () => {
    throw new Error("ENOENT: process.cwd failed");
  };
  const { process, said } = fakeProcess({ cwd });
  expect(await openProcess(process, speak)).toBe(2);
  expect(said.join("")).toContain("is gone; change to another one");
});
