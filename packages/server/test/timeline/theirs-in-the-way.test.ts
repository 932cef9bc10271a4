import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { make, startTalk } from "./talk.ts";

/** A session whose first turn has made src/a.txt and whose second has removed it: the folder is left. */
async function startEmptied() {
  const talk = await startTalk();
  const folder = talk.session.workspace_path ?? "";
  await talk.say(make("src/a.txt", "one"));
  const first = (await talk.checkpoints())[0]?.id;
  await talk.say("Run the command: rm src/a.txt");
  return { talk, folder, src: join(folder, "src"), first, put: (path: string, body: string) => put(talk, path, body) };
}

async function put({ on, session }: Awaited<ReturnType<typeof startTalk>>, path: string, body: string): Promise<void> {
  expect((await on.ask(`/sessions/${session.id}/files/${path}`, { method: "PUT", body })).status).toBe(204);
}

describe("a rewind that puts a file back where people have", () => {
  it("removed its folder makes that anew, and the session goes on", async () => {
    const { talk, src, first } = await startEmptied();
    rmSync(src, { recursive: true });
    await talk.rewind({ checkpoint_id: first });
    expect(talk.file("src/a.txt")).toBe("one");
    await talk.say("Hello");
    expect((await talk.get<{ runs: unknown[] }>("/runs?limit=1")).body.runs).toMatchObject([{ status: "succeeded" }]);
  });

  it.each(["a file", "a link"])(
    "put %s in its folder's place is refused; forced, that is kept beside it",
    async (what) => {
      const { talk, folder, src, first } = await startEmptied();
      const elsewhere = createTempDir();
      rmSync(src, { recursive: true });
      if (what === "a file") writeFileSync(src, "a person's");
      else symlinkSync(elsewhere.path, src);
      const before = (await talk.checkpoints())[0]?.id;
      const refused = await talk.post("/rewind", { checkpoint_id: first });
      expect(refused).toMatchObject({
        status: 409,
        body: { code: "file_conflict", details: { files: ["src/a.txt"] } },
      });
      expect((await talk.checkpoints())[0]?.id).toBe(before);
      await talk.rewind({ checkpoint_id: first, force: true });
      const aside = join(folder, readdirSync(folder).find((name) => name.startsWith("src.local-")) ?? "");
      expect(what === "a file" ? readFileSync(aside, "utf8") : readlinkSync(aside)).toBe(
        what === "a file" ? "a person's" : elsewhere.path,
      );
      expect([talk.file("src/a.txt"), readdirSync(elsewhere.path)]).toEqual(["one", []]);
      elsewhere.remove();
    },
  );

  it("stored a file in its folder's place is refused with that file", async () => {
    const { talk, src, first, put } = await startEmptied();
    rmSync(src, { recursive: true });
    await put("src", "a person's");
    const refused = await talk.post("/rewind", { checkpoint_id: first });
    expect(refused).toMatchObject({ status: 409, body: { code: "file_conflict", details: { files: ["src"] } } });
    expect(talk.file("src")).toBe("a person's");
    await talk.rewind({ checkpoint_id: first, force: true });
    expect(talk.file("src/a.txt")).toBe("one");
  });

  it("stored one in a folder that takes its place now is refused with that one", async () => {
    const talk = await startTalk();
    await talk.say(make("src", "one"));
    const first = (await talk.checkpoints())[0]?.id;
    await talk.say("Run the command: rm src");
    await talk.say("Run the command: mkdir src");
    await put(talk, "src/mine.txt", "a person's");
    const refused = await talk.post("/rewind", { checkpoint_id: first });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "file_conflict", details: { files: ["src/mine.txt"] } },
    });
    expect(talk.file("src/mine.txt")).toBe("a person's");
    await talk.rewind({ checkpoint_id: first, force: true });
    expect(talk.file("src")).toBe("one");
  });
});
