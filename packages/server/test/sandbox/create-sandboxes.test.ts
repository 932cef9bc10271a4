import { expect, test } from "vitest";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";

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
  const start = (exposure: { scoping: boolean; loopback: boolean; allowUnisolated: boolean }) =>
    createSandboxes({ backend: "local", environment: {}, exposure });
  const warnings = async (...args: Parameters<typeof start>) => (await start(...args)).describe().warnings.join();
  const unsafe = { scoping: true, loopback: false, allowUnisolated: false };
  await expect(start(unsafe)).rejects.toMatchObject({ code: "invalid_config" });
  expect(await warnings({ ...unsafe, loopback: true })).toContain("every scope");
  expect(await warnings({ ...unsafe, allowUnisolated: true })).toContain("every scope");
  expect(await warnings({ ...unsafe, scoping: false })).not.toContain("every scope");
});
