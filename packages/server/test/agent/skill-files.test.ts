import { execFileSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { approvalRules } from "../../src/agent/approval-rules.ts";
import { readMemoryFiles } from "../../src/agent/memory-files.ts";
import { memoryFault } from "../../src/agent/memory-path.ts";
import { createSkillFiles, type SkillFiles } from "../../src/agent/skill-files.ts";
import { createWorkspace, type Workspace } from "../tool/workspace.ts";

let workspace: Workspace;
let skills: SkillFiles;
beforeEach(async () => {
  workspace = await createWorkspace();
  skills = createSkillFiles({ root: workspace.root });
});
afterEach(async () => {
  await workspace.dispose();
});

const put = (name: string, text: string) => workspace.write({ [`.cognition/skills/${name}`]: text });

describe("skills", () => {
  it("are told by name, description and place", async () => {
    await put(
      "pdf/SKILL.md",
      "---\nname: pdf\ndescription: Reads PDFs\nallowed-tools: ' read_file, execute '\nversion: 3\n---\nDo so.",
    );
    await put("law/SKILL.md", "---\nname: law\ndescription: |\n  About licenses\nallowed-tools: [grep]\n---\nRead.");
    await put("notes.txt", "no skill");
    expect(await skills.refresh()).toEqual({
      skills: [
        { name: "law", description: "About licenses", path: ".cognition/skills/law/SKILL.md", allowed_tools: ["grep"] },
        {
          name: "pdf",
          description: "Reads PDFs",
          path: ".cognition/skills/pdf/SKILL.md",
          allowed_tools: ["read_file", "execute"],
        },
      ],
      problems: [],
    });
  });

  it.each([
    ["no description", "---\nname: a\n---\nDo.", 1, "description is required"],
    ["another name", "---\ndescription: d\nname: b\n---\nDo.", 3, 'must be that of its folder, "a"'],
    ["a bad name", "---\nname: A B\ndescription: d\n---\nDo.", 2, "lower case"],
    ["nothing to do", "---\nname: a\ndescription: d\n---\n", 1, "says nothing"],
    ["no front matter", "Do.", 1, "must begin with front matter"],
  ])("with %s are refused with file and line", async (_name, text, line, message) => {
    await put("a/SKILL.md", text);
    await put("b/SKILL.md", "---\nname: b\ndescription: d\n---\nDo.");
    const { skills: found, problems } = await skills.refresh();
    expect(found.map(({ name }) => name)).toEqual(["b"]);
    expect(problems).toMatchObject([{ file: ".cognition/skills/a/SKILL.md" }]);
    expect(problems[0]?.message).toContain(message);
    if (line > 1) expect(problems[0]?.line).toBe(line);
  });

  it("list their files, which are no folders, up to a hundred", async () => {
    await put("pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\nDo.");
    await put("pdf/scripts/a.py", "print()");
    expect(await skills.list("pdf")).toEqual(["SKILL.md", "scripts/a.py"]);
    expect([await skills.list("none"), await skills.list("../..")]).toEqual([[], []]);
    for (let n = 0; n < 110; n++) await put(`pdf/x/${n}`, "");
    expect(await skills.list("pdf")).toHaveLength(100);
  });

  it("give their files, and nothing outside", async () => {
    await put("pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\nDo.");
    await put("pdf/scripts/a.py", "print()");
    await workspace.write({ secret: "secret" });
    await symlink(workspace.path("secret"), workspace.path(".cognition/skills/pdf/link"));
    const text = async (name: string, file?: string) => new TextDecoder().decode(await skills.read(name, file));
    expect(await text("pdf")).toContain("Do.");
    expect(await text("pdf", "scripts/a.py")).toBe("print()");
    const outside = [
      ["pdf", "../../../secret"],
      ["pdf", "link"],
      ["pdf", "/etc/passwd"],
      ["..", "x"],
      [".", "pdf/SKILL.md"],
      ["../..", "secret"],
      ["none"],
    ];
    for (const [name, file] of outside) {
      await expect(skills.read(name ?? "", file)).rejects.toMatchObject({ code: "file_not_found" });
    }
  });
});

it("a skill whose file is a pipe is a problem of its own, and not waited for", async () => {
  await put("good/SKILL.md", "---\nname: good\ndescription: Good\n---\nDo good.\n");
  await put("bad/other.md", "");
  execFileSync("mkfifo", [workspace.path(".cognition/skills/bad/SKILL.md")]);
  expect(await skills.refresh()).toMatchObject({
    skills: [{ name: "good" }],
    problems: [{ message: expect.stringContaining("not a regular file") }],
  });
});

describe("memory files", () => {
  const read = (memory: string[] = []) => readMemoryFiles(workspace.root, { memory, source: "file" });

  it("are the workspace's AGENTS.md, then .cognition's, then those that are named", async () => {
    expect(await read()).toEqual([]);
    await workspace.write({
      "AGENTS.md": "one",
      ".cognition/AGENTS.md": "two",
      "docs/three.md": "three",
      "empty.md": " ",
    });
    expect(await read(["docs/three.md", "AGENTS.md", "empty.md", "none.md"])).toEqual([
      { path: "AGENTS.md", content: "one" },
      { path: ".cognition/AGENTS.md", content: "two" },
      { path: "docs/three.md", content: "three" },
    ]);
  });

  it("that every agent reads may be a link to a hidden folder, but not to a session's", async () => {
    const id = "0190c7a4-5d1e-7b3c-8a2f-1234567890ab";
    await workspace.write({ ".team/AGENTS.md": "all", [`${id}/AGENTS.md`]: "one", ".cognition/agents/x.md": "x" });
    await symlink(".team/AGENTS.md", workspace.path("AGENTS.md"));
    await symlink(`../${id}/AGENTS.md`, workspace.path(".cognition/AGENTS.md"));
    const found = await readMemoryFiles(workspace.root, { memory: [], source: "api" });
    expect(found).toEqual([{ path: "AGENTS.md", content: "all" }]);
  });

  it("are none where a pipe or a folder is in their place, which an agent can make", async () => {
    execFileSync("mkfifo", [workspace.path("AGENTS.md")]);
    await workspace.write({ "folder.md/file": "x" });
    expect(await read(["folder.md"])).toEqual([]);
  });

  it("are bounded, and never from outside", async () => {
    await symlink("/etc/hostname", workspace.path("AGENTS.md"));
    await workspace.write({ "big.md": "x".repeat(200_000) });
    for (const path of ["/etc/hostname", "../outside.md", "docs/../../outside.md"])
      expect(memoryFault(path, "file")).toMatch(/relative path inside/);
    const [big, ...rest] = await read(["big.md", "../outside.md"]);
    expect(rest).toEqual([]);
    expect(big?.content).toContain("cut off: 65536 of 200000 bytes");
    expect(big?.content.length).toBeLessThan(70_000);
  });
});

describe("rules", () => {
  it("of approval are one form", () => {
    const rules = approvalRules({
      a: true,
      b: false,
      c: { allowed_decisions: ["approve", "approve"], description: "why" },
    });
    expect([...rules]).toEqual([
      ["a", { allowed_decisions: ["approve", "edit", "reject", "respond"] }],
      ["c", { allowed_decisions: ["approve"], description: "why" }],
    ]);
  });
});
