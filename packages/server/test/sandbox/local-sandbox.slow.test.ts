import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";
import type { Sandbox, Sandboxes } from "../../src/sandbox/sandbox.ts";
import { NO_CGROUPS } from "./no-cgroups.ts";
import { sandboxContract } from "./sandbox-contract.ts";

sandboxContract("local", { backend: "local" });
sandboxContract("local without cgroups", { backend: "local", cgroups: NO_CGROUPS });

describe("the local sandbox", () => {
  let temp: TempDir;
  let workspace: string;
  let sandboxes: Sandboxes;
  let sandbox: Sandbox;

  beforeEach(async () => {
    temp = createTempDir();
    workspace = join(temp.path, "workspace");
    mkdirSync(join(workspace, ".cognition"), { recursive: true });
    writeFileSync(join(workspace, "a.txt"), "a");
    writeFileSync(join(temp.path, "state.db"), "database");
    const stateDatabase = join(temp.path, "state.db");
    sandboxes = await createSandboxes({ backend: "local", environment: process.env, stateDatabase });
    sandbox = await sandboxes.open("session", workspace);
  });

  afterEach(async () => {
    await sandboxes.close();
    temp.remove();
  });

  test.each(["cat a.txt | wc", "cat a.txt > b", "echo $(id)", "echo `id`", "true && false", "ls *.txt", "sleep 1 &"])(
    "refuses %s and says which sandbox allows it",
    async (command) => {
      const refused = { code: "not_supported", message: expect.stringMatching(/bubblewrap or docker/) };
      await expect(sandbox.execute(command)).rejects.toMatchObject(refused);
      expect((await sandbox.files.ls()).map(({ path }) => path)).toEqual([".cognition", "a.txt"]);
    },
  );

  test.each([
    "cat .cognition/config.yaml",
    "cp a.txt ./.cognition/tools/x.ts",
    "cp a.txt --target-directory=.cognition",
    "sh -c 'echo evil > .cognition/agents/x.md'",
    "python3 -c \"open('.cognition/x', 'w')\"",
    "tar -xf a.txt -C sub/../.cognition",
    "cat link/config.yaml",
    "rm -rf ../workspace",
    "cat ../state.db",
    "cp ../state.db-wal copy",
  ])("refuses, before it runs: %s", async (command) => {
    symlinkSync(".cognition", join(workspace, "link"));
    await expect(sandbox.execute(command)).rejects.toMatchObject({ code: "forbidden" });
  });

  test.each(["cat a.txt", "ls -a .", "echo .cognition-notes", "echo a.cognition", "cp a.txt state.db"])(
    "lets pass what only looks like it: %s",
    async (command) => expect(await sandbox.execute(command)).toMatchObject({ exit_code: 0 }),
  );

  test("names a command that only a shell has", async () => {
    const result = await sandbox.execute("cd src");
    expect(result.exit_code).toBe(127);
    expect(result.output).toContain("Each command starts in the workspace folder");
  });

  test("says that it does not isolate", () => {
    expect(sandboxes.describe().warnings[0]).toContain("does not isolate");
    expect(sandbox.capabilities).toEqual({ backend: "local", shell: false, network: "host", isolation: "none" });
  });

  test("protects what it is told to instead", async () => {
    const own = await createSandboxes({ backend: "local", environment: process.env, protectedPaths: ["secret"] });
    const other = await own.open("session", workspace);
    await expect(other.files.write("secret/x", "x")).rejects.toMatchObject({ code: "forbidden" });
    await expect(other.execute("touch secret")).rejects.toMatchObject({ code: "forbidden" });
    await other.files.write(".cognition/x", "x");
    await own.close();
  });
});
