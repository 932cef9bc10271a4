import { chownSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, startDocker } from "../../../../testing/docker.ts";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes, type SandboxesOptions } from "../../src/sandbox/create-sandboxes.ts";
import { containerMounts } from "../../src/sandbox/docker/container-mounts.ts";
import type { DockerOptions } from "../../src/sandbox/docker/docker-options.ts";
import type { Sandboxes } from "../../src/sandbox/sandbox.ts";
import { sandboxContract } from "./sandbox-contract.ts";
import { until } from "./wait-for.ts";

const engine = await startDocker();

if ("host" in engine) {
  afterAll(() => engine.stop());
  sandboxContract("docker", { backend: "docker", docker: { host: engine.host, image: engine.image } });
  dockerSuite(engine);
} else {
  describe.skip(`docker: ${engine.missing}`, () => {});
}

function dockerSuite({ host, image }: DockerEngine): void {
  const client = new Docker({ socketPath: host.replace("unix://", "") });
  let temp: TempDir;
  let workspace: string;
  let owner: string;
  let opened: Sandboxes[];

  beforeEach(() => {
    temp = createTempDir();
    workspace = join(temp.path, "workspace");
    mkdirSync(workspace);
    owner = temp.path;
    opened = [];
  });

  afterEach(async () => {
    await Promise.all(opened.map((sandboxes) => sandboxes.close()));
    temp.remove();
  });

  const start = async (docker: DockerOptions = {}, more: Partial<SandboxesOptions> = {}) => {
    const all: DockerOptions = { host, image, owner, ...docker };
    const sandboxes = await createSandboxes({ backend: "docker", environment: {}, docker: all, ...more });
    opened.push(sandboxes);
    return sandboxes;
  };
  const containers = (of = owner) =>
    client.listContainers({ all: true, filters: { label: [`cognition.owner=${of}`] } });

  describe("the docker sandbox", () => {
    test("makes one container for a session at its first command, keeps it, and removes it with the session", async () => {
      const sandboxes = await start();
      const sandbox = await sandboxes.open("one", workspace);
      expect(await containers()).toEqual([]);
      await sandbox.execute("echo kept > /tmp/note");
      const [first] = await containers();
      expect((await sandbox.execute("cat /tmp/note")).output).toBe("kept\n");
      expect((await containers()).map(({ Id }) => Id)).toEqual([first?.Id]);
      await sandboxes.remove("one");
      expect(await containers()).toEqual([]);
    });

    test("confines it as promised", async () => {
      const sandbox = await (await start()).open("one", workspace);
      await sandbox.execute("true");
      const [made] = await containers();
      const { HostConfig, Config } = await client.getContainer(made?.Id ?? "").inspect();
      expect(HostConfig).toMatchObject({
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        ReadonlyRootfs: true,
        NetworkMode: "none",
        Memory: 512 * 2 ** 20,
        MemorySwap: 512 * 2 ** 20,
        NanoCpus: 1e9,
        PidsLimit: 256 + 16,
        Privileged: false,
      });
      expect(Object.keys(HostConfig.Tmpfs ?? {})).toEqual(expect.arrayContaining(["/tmp", "/home"]));
      for (const options of Object.values(HostConfig.Tmpfs ?? {})) expect(options).toMatch(/size=\d+/);
      expect(Config.User).not.toMatch(/^(0|root|)(:|$)/);
    });

    test("has a shell, and programs can be run from /tmp", async () => {
      const sandbox = await (await start()).open("one", workspace);
      const script = "printf '#!/bin/sh\\necho ran' > /tmp/p; chmod +x /tmp/p; /tmp/p | wc -l; echo $HOME; id -u";
      expect((await sandbox.execute(script)).output).toMatch(/^1\n\/workspace\n[1-9]\d*\n$/);
    });

    test("goes on after /tmp is full", async () => {
      const limits = { temporary_bytes: 4 * 2 ** 20, memory_bytes: 32 * 2 ** 20 };
      const sandbox = await (await start({}, { limits })).open("one", workspace);
      expect(await sandbox.execute("head -c 50000000 /dev/zero > /tmp/full")).not.toMatchObject({ exit_code: 0 });
      expect(await sandbox.execute("echo still here")).toMatchObject({ exit_code: 0, output: "still here\n" });
    });

    test("keeps no more output than fits into the container, and says so", async () => {
      const limits = { output_bytes: 20 * 2 ** 20, memory_bytes: 64 * 2 ** 20 };
      const sandboxes = await start({}, { limits });
      const sandbox = await sandboxes.open("one", workspace);
      expect(sandboxes.describe().limits.output?.value).toBe(`${2 * 2 ** 20} bytes`);
      const much = await sandbox.execute("head -c 12000000 /dev/zero | tr '\\0' x; exit 4", { id: "much" });
      expect(much).toMatchObject({ exit_code: 4, truncated: true });
      expect(much.output).toContain(`[output cut after ${2 * 2 ** 20} bytes`);
      expect(await sandbox.execute("echo next", { id: "next" })).toMatchObject({ exit_code: 0, output: "next\n" });
    });

    test("ends a command that took away or filled what its supervisor writes to", async () => {
      const sandbox = await (await start()).open("one", workspace);
      expect(await sandbox.execute("rm -rf /run/cognition/*; echo gone")).toMatchObject({ output: "gone\n" });
      await sandbox.execute("head -c 20000000 /dev/zero > /run/cognition/full; echo full");
      expect((await sandbox.execute("rm /run/cognition/full; echo room")).output).toBe("room\n");
      expect(await sandbox.execute("echo next")).toMatchObject({ exit_code: 0, output: "next\n" });
    });

    test("lets commands change what the file tools wrote, and the other way round", async () => {
      writeFileSync(join(workspace, "old.txt"), "old\n");
      const sandbox = await (await start()).open("one", workspace);
      await sandbox.execute("true");
      await sandbox.files.write("made/by/tool.txt", "tool\n");
      const change = "for f in old.txt made/by/tool.txt; do echo command >> $f; done; echo new > made/by/new.txt";
      expect(await sandbox.execute(change)).toMatchObject({ exit_code: 0, output: "" });
      expect(await sandbox.files.readText("made/by/tool.txt")).toBe("tool\ncommand\n");
      await sandbox.files.edit("made/by/new.txt", { old_text: "new", new_text: "newer" });
      expect((await sandbox.execute("cat old.txt made/by/new.txt; echo x >> made/by/new.txt")).output).toBe(
        "old\ncommand\nnewer\n",
      );
    });

    test.skipIf(process.getuid?.() !== 0)("runs commands as whoever the workspace belongs to", async () => {
      chownSync(workspace, 4242, 4243);
      const sandbox = await (await start()).open("one", workspace);
      expect((await sandbox.execute("id -u; id -g; echo > made")).output).toBe("4242\n4243\n");
      expect(statSync(join(workspace, "made")).uid).toBe(4242);
    });

    test("makes a new container when somebody removed or stopped it", async () => {
      const sandbox = await (await start()).open("one", workspace);
      await sandbox.execute("true");
      const id = async () => (await containers())[0]?.Id ?? "";
      const first = await id();
      await client.getContainer(first).remove({ force: true });
      expect(await sandbox.execute("echo again")).toMatchObject({ output: "again\n" });
      await client.getContainer(await id()).kill();
      expect(await sandbox.execute("echo once more")).toMatchObject({ output: "once more\n" });
    });

    test("makes a new container when the workspace folder was removed or moved and made anew", async () => {
      const sandbox = await (await start()).open("one", workspace);
      await sandbox.execute("echo old > file");
      rmSync(workspace, { recursive: true });
      mkdirSync(workspace);
      expect(await sandbox.execute("ls; echo new > file")).toMatchObject({ exit_code: 0, output: "" });
      renameSync(workspace, `${workspace}-moved`);
      mkdirSync(workspace);
      expect(await sandbox.execute("ls; echo newer > file")).toMatchObject({ exit_code: 0, output: "" });
      expect(await sandbox.files.readText("file")).toBe("newer\n");
      expect(await containers()).toHaveLength(1);
    });

    test("removes a container that is idle, but none with a command in it", async () => {
      const sandbox = await (await start({ idle_ms: 200 })).open("one", workspace);
      const running = sandbox.execute("while [ ! -e go ]; do sleep 0.05; done; echo done");
      await until(async () => (await containers()).length === 1);
      const [made] = await containers();
      const since = performance.now();
      await until(() => performance.now() - since > 600);
      expect((await containers()).map(({ Id }) => Id)).toEqual([made?.Id]);
      writeFileSync(join(workspace, "go"), "");
      expect(await running).toMatchObject({ output: "done\n" });
      await until(async () => (await containers()).length === 0);
    });

    test("keeps an idle container whose command was let go of", async () => {
      const sandbox = await (await start({ idle_ms: 200 })).open("one", workspace);
      const leaving = new AbortController();
      const command = "echo > begun; while [ ! -e go ]; do sleep 0.05; done; echo done";
      const running = sandbox.execute(command, { id: "call", detach: leaving.signal });
      await until(() => existsSync(join(workspace, "begun")));
      leaving.abort(new Error("leaving"));
      await expect(running).rejects.toThrow("leaving");
      const since = performance.now();
      await until(() => performance.now() - since > 800);
      expect(await containers()).toHaveLength(1);
      writeFileSync(join(workspace, "go"), "");
      expect(await sandbox.execute(command, { id: "call" })).toMatchObject({ output: "done\n" });
      await until(async () => (await containers()).length === 0);
    });

    test("takes away what a server of the same owner left, and nothing of another's", async () => {
      const left = await (await start()).open("one", workspace);
      await left.execute("true");
      const foreign = await start({ owner: `${owner}-other` });
      await (await foreign.open("one", workspace)).execute("true");
      await start();
      expect(await containers()).toEqual([]);
      expect(await containers(`${owner}-other`)).toHaveLength(1);
    });

    test("takes nothing away where it works beside a server, or where another sandbox is asked for", async () => {
      const sandbox = await (await start()).open("s1", workspace);
      await sandbox.execute("echo kept > /tmp/note");
      await start({ reclaim: false });
      await expect(start({}, { backend: "nonsense" })).rejects.toMatchObject({ code: "unknown_backend" });
      expect(await sandbox.execute("cat /tmp/note")).toMatchObject({ exit_code: 0, output: "kept\n" });
    });

    test("mounts the workspace by the path that the engine knows", async () => {
      const hostWorkspace = { root: "/inside/the/server", path: temp.path };

      const paths = { protected: ["/inside/the/server/workspace/.cognition"], hidden: [] };
      const mounts = containerMounts({ folder: "/inside/the/server/workspace", paths }, hostWorkspace);
      expect(mounts[0]).toMatchObject({ Source: workspace, Target: "/workspace" });
    });

    test("hides a database that lies in the workspace, and shows what lies beside it", async () => {
      mkdirSync(join(workspace, ".cognition", "agents"), { recursive: true });
      writeFileSync(join(workspace, ".cognition", "agents", "a.md"), "agent");
      writeFileSync(join(workspace, ".cognition", "state.db"), "database");
      writeFileSync(join(workspace, "loose.db"), "database");
      const inside = await start({}, { stateDatabase: join(workspace, ".cognition", "state.db") });
      const sandbox = await inside.open("one", workspace);
      expect((await sandbox.execute("cat .cognition/agents/a.md; ls .cognition")).output).toBe("agentagents\n");
      expect(await sandbox.execute("touch .cognition/x")).not.toMatchObject({ exit_code: 0 });
      const loose = await start({ owner: `${owner}-loose` }, { stateDatabase: join(workspace, "loose.db") });
      expect((await (await loose.open("one", workspace)).execute("cat loose.db")).output).not.toContain("database");
      expect(existsSync(join(workspace, ".cognition", "x"))).toBe(false);
    });

    test("says what it is and what its limits are enforced by", async () => {
      const { capabilities, limits, circuit_breakers } = (await start()).describe();
      expect(capabilities).toEqual({ backend: "docker", shell: true, network: "none", isolation: "container" });
      expect(limits.memory).toEqual({ value: `${512 * 2 ** 20} bytes`, enforced_by: "container" });
      expect(circuit_breakers["docker"]).toMatchObject({ state: "closed", consecutive_failures: 0 });
    });

    test("is unavailable without its image, with how to get it and what there is instead", async () => {
      const message = expect.stringMatching(/"no-such-image:latest".*COGNITION_DOCKER_IMAGE.*: local/s);
      await expect(start({ image: "no-such-image:latest" })).rejects.toMatchObject({
        code: "sandbox_unavailable",
        message,
      });
    });

    test("is unavailable without an engine, with its address and what there is instead", async () => {
      const message = expect.stringMatching(/unix:\/\/\/nowhere\.sock.*: local/s);
      await expect(start({ host: "unix:///nowhere.sock" })).rejects.toMatchObject({
        code: "sandbox_unavailable",
        message,
      });
      await expect(start({ host: "ssh://elsewhere" })).rejects.toMatchObject({ code: "invalid_config" });
    });

    test("stops asking an engine that fails, and says when it will again", async () => {
      let now = 0;
      let fails = false;
      const broken = createServer((request, response) => {
        if (fails) response.statusCode = 500;
        response.end(request.url?.includes("/containers/json") ? "[]" : "{}");
      });
      const socket = join(temp.path, "broken.sock");
      await new Promise<void>((resolve) => broken.listen(socket, resolve));
      const sandboxes = await start({ host: `unix://${socket}` }, { now: () => now });
      const sandbox = await sandboxes.open("one", workspace);
      fails = true;
      for (let n = 0; n < 5; n++)
        await expect(sandbox.execute("true")).rejects.toMatchObject({ code: "sandbox_unavailable" });
      const refused = { code: "circuit_open", message: expect.stringContaining("in 60 s") };
      await expect(sandbox.execute("true")).rejects.toMatchObject(refused);
      expect(sandboxes.describe().circuit_breakers["docker"]).toMatchObject({ state: "open" });
      now += 60_000;
      await expect(sandbox.execute("true")).rejects.toMatchObject({ code: "sandbox_unavailable" });
      opened.splice(opened.indexOf(sandboxes), 1);
      broken.close();
    });
  });
}
