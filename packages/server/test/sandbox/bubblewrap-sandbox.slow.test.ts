import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBubblewrap } from "../../../../testing/bubblewrap.ts";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes, type SandboxesOptions } from "../../src/sandbox/create-sandboxes.ts";
import { NO_CGROUPS } from "./no-cgroups.ts";
import { sandboxContract } from "./sandbox-contract.ts";
import { until } from "./wait-for.ts";

const bubblewrap = findBubblewrap();

if ("file" in bubblewrap) {
  sandboxContract("bubblewrap", { backend: "bubblewrap", bubblewrap: bubblewrap.file });
  bubblewrapSuite(bubblewrap.file);
} else {
  describe.skip(`bubblewrap: ${bubblewrap.missing}`, () => {});
}

function bubblewrapSuite(file: string): void {
  describe("the bubblewrap sandbox", () => {
    let temp: TempDir;
    let workspace: string;

    beforeEach(() => {
      temp = createTempDir();
      workspace = join(temp.path, "workspace");
      mkdirSync(workspace);
    });
    afterEach(() => temp.remove());

    const open = async (options: Partial<SandboxesOptions> = {}) => {
      const sandboxes = await createSandboxes({
        backend: "bubblewrap",
        bubblewrap: file,
        environment: process.env,
        ...options,
      });
      return { sandboxes, sandbox: await sandboxes.open("session", workspace) };
    };

    test("has a shell", async () => {
      const { sandbox } = await open();
      const script = `for i in 1 2 3; do echo $i; done | wc -l > n && cat n; echo \${HOME} $(whoami) *; false || echo or`;
      expect((await sandbox.execute(script)).output).toBe("3\n/workspace agent n\nor\n");
      expect(await sandbox.files.readText("n")).toBe("3\n");
    });

    test("lets no command make a protected folder that is not there", async () => {
      const { sandbox } = await open();
      expect(await sandbox.execute("mkdir -p .cognition/tools")).not.toMatchObject({ exit_code: 0 });
      expect(existsSync(join(workspace, ".cognition", "tools"))).toBe(false);
    });

    test("hides a database that lies in the workspace, and what appears beside it later", async () => {
      mkdirSync(join(workspace, ".cognition", "agents"), { recursive: true });
      writeFileSync(join(workspace, ".cognition", "agents", "a.md"), "agent");
      writeFileSync(join(workspace, ".cognition", "state.db"), "database");
      const { sandbox } = await open({ stateDatabase: join(workspace, ".cognition", "state.db") });
      const looking = sandbox.execute(
        "echo > started; while [ ! -e go ]; do sleep 0.02; done; cat .cognition/agents/a.md; ls .cognition",
      );
      await until(() => existsSync(join(workspace, "started")));
      writeFileSync(join(workspace, ".cognition", "state.db-wal"), "newer");
      writeFileSync(join(workspace, "go"), "");
      expect((await looking).output).toBe("agentagents\n");
      writeFileSync(join(workspace, "loose.db"), "database");
      const loose = await open({ stateDatabase: join(workspace, "loose.db") });
      expect(await loose.sandbox.execute("cat loose.db")).toMatchObject({ exit_code: 1 });
    });

    test("does not mount what a link on the way to a protected path leads to", async () => {
      mkdirSync(join(workspace, "a", "kept"), { recursive: true });
      mkdirSync(join(temp.path, "elsewhere", "kept"), { recursive: true });
      const { sandbox } = await open({ protectedPaths: ["a/kept"] });
      expect(await sandbox.execute("touch a/kept/x")).not.toMatchObject({ exit_code: 0 });
      renameSync(join(workspace, "a"), join(workspace, "b"));
      symlinkSync(join(temp.path, "elsewhere"), join(workspace, "a"));
      await expect(sandbox.execute("ls a/kept")).rejects.toMatchObject({ code: "forbidden" });
    });

    test("says what its limits are enforced by, and which are not", async () => {
      const { sandboxes } = await open({ cgroups: NO_CGROUPS });
      const { limits, warnings, capabilities } = sandboxes.describe();
      expect(capabilities).toEqual({ backend: "bubblewrap", shell: true, network: "none", isolation: "namespaces" });
      expect(limits.cpu?.enforced_by).toBeNull();
      expect(warnings.join()).toContain("(cpu)");
      expect(limits.memory?.enforced_by).toContain("each process");
      expect(limits.temporary_files?.enforced_by).toBe("tmpfs");
    });

    test("has no network but a loopback of its own", async () => {
      const { sandbox } = await open();
      expect((await sandbox.execute("tail -n +3 /proc/net/dev | wc -l")).output).toBe("1\n");
    });

    test("is unavailable where bwrap does not work, with the reason and what there is instead", async () => {
      const broken = join(temp.path, "bwrap");
      writeFileSync(broken, "#!/bin/sh\necho no namespaces here >&2\nexit 1\n", { mode: 0o755 });
      const message = expect.stringMatching(/no namespaces here.*: local\.$/s);
      await expect(open({ bubblewrap: broken })).rejects.toMatchObject({ code: "sandbox_unavailable", message });
    });
  });
}
