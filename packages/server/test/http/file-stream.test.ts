import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { fileStream } from "../../src/http/file-stream.ts";
import { tarStream } from "../../src/http/tar-stream.ts";
import type { OpenFile } from "../../src/sandbox/sandbox.ts";

function openFile(size: number, pieces: string[]): OpenFile & { readonly closed: () => boolean } {
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  let closed = false;
  return {
    size,
    executable: false,
    read: async () => left.shift(),
    close: async () => {
      closed = true;
    },
    closed: () => closed,
  };
}

it("a file is closed at its end, when its reader goes, and when it became shorter, which is no end", async () => {
  const whole = openFile(4, ["ab", "cd"]);
  expect(await new Response(fileStream(whole)).text()).toBe("abcd");
  const left = openFile(4, ["ab", "cd"]);
  await fileStream(left).cancel();
  const shorter = openFile(4, ["ab"]);
  await expect(new Response(fileStream(shorter)).text()).rejects.toThrow();
  expect([whole, left, shorter].map(({ closed }) => closed())).toEqual([true, true, true]);
});

it("in an archive, what a file lost meanwhile is filled up, so that the next one is found", async () => {
  const entry = (path: string) => ({ path, type: "file" as const, size: 0, modified_at: "2026-01-01T00:00:00.000Z" });
  const files: Record<string, ReturnType<typeof openFile>> = { a: openFile(100_000, ["a"]), b: openFile(1, ["b"]) };
  const open = async (path: string) => files[path] as OpenFile;
  const archive = Buffer.from(await new Response(tarStream({ open }, [entry("a"), entry("b")])).arrayBuffer());
  const next = 512 + Math.ceil(100_000 / 512) * 512;
  expect(archive.subarray(next, next + 1).toString()).toBe("b");
  expect(archive.length).toBe(next + 512 + 512 + 1024);
  expect(Object.values(files).map(({ closed }) => closed())).toEqual([true, true]);
});

it("in an archive, a file of more than 8 GiB or from before 1970 has a head that tar can read", async () => {
  const entry = { path: "large", type: "file" as const, size: 0, modified_at: "1960-01-01T00:00:00.000Z" };
  const reader = tarStream({ open: async () => openFile(9_000_000_000, []) }, [entry]).getReader();
  const { value: head = new Uint8Array() } = await reader.read();
  await reader.cancel();
  const list = spawnSync("tar", ["-tv", "--utc"], { input: head, encoding: "utf8" });
  expect(list.stdout).toMatch(/ 9000000000 1970-01-01 00:00 large/);
});
