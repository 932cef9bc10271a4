import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { checkExposure, type Exposure } from "../../src/sandbox/check-exposure.ts";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";
import { HeldValues } from "../../src/sandbox/held-values.ts";
import { until } from "./wait-for.ts";

const environment = { PATH: "/nowhere" };

test("an unknown back end stops with what is available, and nothing is taken instead", async () => {
  const refused = { code: "unknown_backend", details: { backend: "dokcer", available: ["local"] } };
  await expect(createSandboxes({ backend: "dokcer", environment })).rejects.toMatchObject(refused);
  await expect(createSandboxes({ backend: "toString", environment })).rejects.toMatchObject({
    code: "unknown_backend",
  });
  await expect(createSandboxes({ backend: "", environment })).rejects.toMatchObject({ code: "unknown_backend" });
});

test("a known one that this machine lacks stops with the reason", async () => {
  const refused = {
    code: "sandbox_unavailable",
    message: expect.stringMatching(/install the package bubblewrap.*: local\.$/s),
  };
  await expect(createSandboxes({ backend: "bubblewrap", environment })).rejects.toMatchObject(refused);
});

test("without the programs that limit, the local sandbox says what is not limited", async () => {
  const cgroups = { controllers: new Set<never>(), create: () => undefined };
  const sandboxes = await createSandboxes({ backend: "local", environment, cgroups });
  expect(sandboxes.describe().limits.processes).toEqual({ value: "256 processes", enforced_by: null });
  expect(sandboxes.describe().warnings.join()).toContain("not limited");
});

test("scoping with the local sandbox is a warning on loopback, and refused elsewhere unless asked for", async () => {
  const start = (exposure: Exposure) => createSandboxes({ backend: "local", environment: {}, exposure });
  const warnings = async (...args: Parameters<typeof start>) => (await start(...args)).describe().warnings.join();
  const unsafe = { scoping: true, loopback: false, allowUnisolated: false, sharedFolder: false };
  await expect(start(unsafe)).rejects.toMatchObject({ code: "invalid_config" });
  expect(await warnings({ ...unsafe, loopback: true })).toContain("every scope");
  expect(await warnings({ ...unsafe, allowUnisolated: true })).toContain("every scope");
  expect(await warnings({ ...unsafe, scoping: false })).not.toContain("every scope");
});

test("scoping with one folder for all is a warning on loopback, and refused elsewhere, whatever the sandbox", () => {
  const docker = { backend: "docker", shell: true, network: "none", isolation: "container" } as const;
  const shared = { scoping: true, loopback: false, allowUnisolated: false, sharedFolder: true };
  expect(() => checkExposure(docker, shared)).toThrow(
    expect.objectContaining({
      code: "invalid_config",
      message: expect.stringContaining("COGNITION_WORKSPACE_ISOLATION"),
    }),
  );
  expect(checkExposure(docker, { ...shared, loopback: true }).join()).toContain("one folder");
  expect(checkExposure(docker, { ...shared, allowUnisolated: true }).join()).toContain("one folder");
  expect(checkExposure(docker, { ...shared, scoping: false })).toEqual([]);
  expect(checkExposure(docker, { ...shared, sharedFolder: false })).toEqual([]);
});

/** What nobody holds is collected, and those who wait to hear of it are told. */
async function collect(): Promise<void> {
  setFlagsFromString("--expose-gc");
  await new Promise((resolve) => setTimeout(resolve)); // what was looked at in this turn is held until its end
  (runInNewContext("gc") as () => void)();
  await new Promise((resolve) => setTimeout(resolve));
}

function openFolder(): string {
  const { path, remove } = createTempDir();
  onTestFinished(remove);
  return path;
}

test("a session's sandbox is forgotten when nobody uses it any more, and is the same one until then", async () => {
  const folder = openFolder();
  const sandboxes = await createSandboxes({ backend: "local", environment: { PATH: process.env["PATH"] } });
  const used = await sandboxes.open("used", folder);
  const open = async () => new WeakRef(await sandboxes.open("unused", folder));
  const unused = await open();
  await until(async () => {
    await collect();
    return unused.deref() === undefined;
  });
  expect(await sandboxes.open("used", folder)).toBe(used);
});

test("a sandbox that nobody holds is still there to be closed while a command runs in it", async () => {
  const folder = openFolder();
  const sandboxes = await createSandboxes({ backend: "local", environment: { PATH: process.env["PATH"] } });
  const start = async () => {
    const sandbox = await sandboxes.open("s", folder);
    return { running: sandbox.execute("sleep 100").catch((error: unknown) => error) };
  };
  const { running } = await start();
  await collect();
  await sandboxes.close();
  expect(await running).toMatchObject({ code: "aborted" });
});

test("of values that nobody holds not even the names are kept", async () => {
  const values = new HeldValues<object>();
  const held = values.getOrMake("held", () => ({}));
  for (let n = 0; n < 100; n++) values.getOrMake(`${n}`, () => ({}));
  await until(async () => {
    await collect();
    return values.size === 1;
  });
  expect(values.all()).toEqual([held]);
  expect(values.getOrMake("held", () => ({}))).toBe(held);
});
