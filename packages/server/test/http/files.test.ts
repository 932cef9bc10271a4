import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileList } from "@cognition/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { becomeNobody } from "../../../../testing/become-nobody.ts";
import { createMemoryDir, createTempDir } from "../../../../testing/temp-dir.ts";
import { nestFolders } from "../sandbox/nest-folders.ts";
import { problemOf } from "./problem-of.ts";
import { startTestServer } from "./test-server.ts";

describe("the files of a session", () => {
  it("are written, listed, read and deleted, with odd names and bytes", async () => {
    const { ask, fetch, createSession } = await startTestServer();
    const { id, workspace_path } = await createSession();
    const bytes = new Uint8Array([0, 255, 10, 13]);
    const names = ["a.txt", "deep/er/ü #%.bin", "line\nbreak"];
    const url = (name: string) => `/sessions/${id}/files/${name.split("/").map(encodeURIComponent).join("/")}`;
    for (const name of names) expect((await fetch(url(name), { method: "PUT", body: bytes })).status).toBe(204);
    expect(readFileSync(join(workspace_path ?? "", "deep/er/ü #%.bin"))).toEqual(Buffer.from(bytes));
    const { files } = (await (await ask(`/sessions/${id}/files`)).json()) as FileList;
    expect(files.map(({ path, type }) => [path, type])).toEqual([
      ["a.txt", "file"],
      ["deep", "directory"],
      ["deep/er", "directory"],
      ["deep/er/ü #%.bin", "file"],
      ["line\nbreak", "file"],
    ]);
    const read = await fetch(url("a.txt"));
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes);
    expect(read.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect((await ask(url("deep"), { method: "DELETE" })).status).toBe(204);
    expect(await problemOf(ask(url("deep/er/ü #%.bin")))).toMatchObject({ status: 404, code: "file_not_found" });
  });

  it("never lead out of the workspace", async () => {
    const { ask, createSession } = await startTestServer();
    const { id, workspace_path } = await createSession();
    symlinkSync("/etc", join(workspace_path ?? "", "link"));
    for (const path of ["..%2f..%2fetc%2fpasswd", "%2Fetc%2Fpasswd", "link/passwd", "a%00b"]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const response = await ask(`/sessions/${id}/files/${path}`, { method });
        expect([404, 422], `${method} ${path}`).toContain(response.status);
      }
    }
    expect((await ask(`/sessions/${id}/files/link`, { method: "DELETE" })).status).toBe(204);
  });

  it("have names: what ends like a folder's makes no file", async () => {
    const { ask, createSession } = await startTestServer();
    const { id } = await createSession();
    const answer = ask(`/sessions/${id}/files/docs/`, { method: "PUT", body: "x" });
    expect(await problemOf(answer)).toMatchObject({ status: 422, detail: expect.stringContaining('"docs/"') });
    expect((await ask(`/sessions/${id}/files/docs/a.txt`, { method: "PUT", body: "x" })).status).toBe(204);
  });

  it("have limits, and the server's own folder is not theirs", async () => {
    const { ask, createSession } = await startTestServer({ isolation: "shared" });
    const { id } = await createSession();
    const put = (path: string, size: number) =>
      ask(`/sessions/${id}/files/${path}`, { method: "PUT", body: new Uint8Array(size) });
    expect(await problemOf(put("big", 10 * 1024 * 1024 + 1))).toMatchObject({ status: 413, code: "content_too_large" });
    expect(await problemOf(put("huge", 17 * 1024 * 1024))).toMatchObject({ status: 413, code: "content_too_large" });
    expect(await problemOf(put(".cognition/agents/evil.md", 1))).toMatchObject({ status: 403, code: "forbidden" });
  });

  it("that a command made larger than a request may be are read all the same, alone and in the archive", async () => {
    const { fetch, createSession } = await startTestServer();
    const { id, workspace_path } = await createSession();
    const bytes = Buffer.alloc(10 * 1024 * 1024 + 12_345, "0123456789");
    writeFileSync(join(workspace_path ?? "", "a-large.bin"), bytes);
    writeFileSync(join(workspace_path ?? "", "small"), "small");
    const read = await fetch(`/sessions/${id}/files/a-large.bin`);
    expect(read.headers.get("Content-Length")).toBe(String(bytes.length));
    expect(bytes.equals(new Uint8Array(await read.arrayBuffer()))).toBe(true);
    const head = await fetch(`/sessions/${id}/files/a-large.bin`, { method: "HEAD" });
    expect([head.status, head.headers.get("Content-Length")]).toEqual([200, String(bytes.length)]);
    const archive = await fetch(`/sessions/${id}/files?archive=tar`);
    const dir = createTempDir();
    try {
      execFileSync("tar", ["-x", "-C", dir.path], { input: Buffer.from(await archive.arrayBuffer()) });
      expect(readFileSync(join(dir.path, "a-large.bin")).equals(bytes)).toBe(true);
      expect(readFileSync(join(dir.path, "small"), "utf8")).toBe("small");
    } finally {
      dir.remove();
    }
  });

  it("are listed and downloaded without what is closed to the server or lies too deep", async () => {
    const { ask, fetch, createSession, root } = await startTestServer();
    const { id: first } = await createSession();
    await ask(`/sessions/${first}/files/a`, { method: "PUT", body: "a" });
    for (const query of ["", "?archive=tar"]) await (await fetch(`/sessions/${first}/files${query}`)).text(); // all that it takes is loaded
    const beOneself = becomeNobody(root);
    try {
      const { id, workspace_path = "" } = await createSession();
      const at = (path: string) => join(workspace_path ?? "", path);
      mkdirSync(at("closed"), 0);
      writeFileSync(at("secret"), "x", { mode: 0 });
      writeFileSync(at("z"), "z");
      nestFolders(at("."), 250, "n");
      const { files } = (await (await ask(`/sessions/${id}/files`)).json()) as FileList;
      expect(files.filter(({ path }) => !path.startsWith("n")).map(({ path }) => path)).toEqual([
        "closed",
        "secret",
        "z",
      ]);
      const archive = await fetch(`/sessions/${id}/files?archive=tar`);
      const listed = execFileSync("tar", ["-t"], { input: Buffer.from(await archive.arrayBuffer()), encoding: "utf8" });
      expect(listed.split("\n").filter((name) => !name.startsWith("n"))).toEqual(["closed/", "z", ""]);
      chmodSync(at("closed"), 0o755);
    } finally {
      beOneself();
    }
  });

  it("are listed whatever time a command has given them", async () => {
    // Other file systems, as ext4, cut such times themselves.
    const dir = createMemoryDir();
    onTestFinished(() => dir.remove());
    const on = await startTestServer({ root: dir.path });
    const { id } = await on.createSession();
    const path = join(dir.path, id, "f");
    for (const seconds of [9_999_999_999_999, 253_402_300_800, -99_999_999_999]) {
      writeFileSync(path, "x");
      utimesSync(path, seconds, seconds);
      const answer = await on.ask(`/sessions/${id}/files`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ files: [{ modified_at: expect.stringMatching(/^\d{4}-/) }] });
    }
    expect(on.faults).toEqual([]);
  });

  it("are downloaded as an archive that tar can read", async () => {
    const { fetch, createSession } = await startTestServer();
    const { id, workspace_path } = await createSession();
    const long = `${"d".repeat(90)}/${"é".repeat(60)}.txt`;
    mkdirSync(join(workspace_path ?? "", "d".repeat(90)));
    mkdirSync(join(workspace_path ?? "", "empty"));
    writeFileSync(join(workspace_path ?? "", long), "long");
    writeFileSync(join(workspace_path ?? "", "block"), "x".repeat(512));
    writeFileSync(join(workspace_path ?? "", "nothing"), "");
    writeFileSync(join(workspace_path ?? "", "run.sh"), "#!/bin/sh", { mode: 0o755 });
    const response = await fetch(`/sessions/${id}/files?archive=tar`);
    expect(response.headers.get("Content-Type")).toBe("application/x-tar");
    const dir = createTempDir();
    try {
      execFileSync("tar", ["-x", "-C", dir.path], { input: Buffer.from(await response.arrayBuffer()) });
      expect(readFileSync(join(dir.path, long), "utf8")).toBe("long");
      expect(readFileSync(join(dir.path, "block"), "utf8")).toBe("x".repeat(512));
      expect(readFileSync(join(dir.path, "nothing"), "utf8")).toBe("");
      expect(statSync(join(dir.path, "run.sh")).mode & 0o111).toBeGreaterThan(0);
      expect(statSync(join(dir.path, "block")).mode & 0o111).toBe(0);
      expect(execFileSync("ls", [dir.path], { encoding: "utf8" }).split("\n")).toContain("empty");
    } finally {
      dir.remove();
    }
  });

  it("where all work in the root, leave the server's configuration to the server: it may hold keys", async () => {
    const { ask, fetch, root, createSession } = await startTestServer({ isolation: "shared" });
    writeFileSync(join(root, ".cognition/config.yaml"), "webhooks: { secrets: [whsec_mark] }\n");
    const { id } = await createSession();
    for (const path of [".cognition/config.yaml", "%2ecognition/config%2eyaml", "x/../.cognition/config.yaml"]) {
      const asked = ask(`/sessions/${id}/files/${path}`);
      expect(await problemOf(asked), path).toMatchObject({ status: expect.toSatisfy((s) => [403, 404].includes(s)) });
    }
    const archive = await (await ask(`/sessions/${id}/files?archive=tar`)).text();
    expect(archive).toContain(".cognition/agents/");
    expect(archive).not.toContain("mark");
    for (const content of ["Read the file .cognition/config.yaml", "Search for webhooks in all files"]) {
      const said = await (await fetch(`/sessions/${id}/messages`, { method: "POST", json: { content } })).text();
      expect(said).toContain('"status":"succeeded"');
      expect(said).not.toContain("mark");
    }
  });
});
