import { describe, expect, test } from "vitest";
import { sandboxSettings } from "../../src/config/sandbox-settings.ts";
import { loadConfig } from "../../src/config.ts";

function settings(env: Record<string, string>) {
  const { config } = loadConfig({ env, cwd: "/" });
  return sandboxSettings(config, "/srv/work");
}

describe("the settings of sandboxes", () => {
  test("of containers are those of their own variables", () => {
    const { limits, docker } = settings({
      COGNITION_SANDBOX_BACKEND: "docker",
      COGNITION_DOCKER_IMAGE: "mine:1",
      COGNITION_DOCKER_NETWORK: "bridge",
      COGNITION_DOCKER_MEMORY_LIMIT: "2g",
      COGNITION_DOCKER_CPU_LIMIT: "0.5",
      COGNITION_DOCKER_TIMEOUT: "1.5",
      COGNITION_DOCKER_HOST_WORKSPACE: "/host/work",
    });
    expect(limits).toMatchObject({ memory_bytes: 2 * 2 ** 30, cpus: 0.5, timeout_ms: 1_500 });
    expect(docker).toEqual({
      image: "mine:1",
      network: "bridge",
      idle_ms: 900_000,
      owner: "/host/work",
      hostWorkspace: { root: "/srv/work", path: "/host/work" },
    });
  });

  test.each([
    ["512m", 512 * 2 ** 20],
    ["64K", 64 * 2 ** 10],
    ["1073741824", 2 ** 30],
  ])("read the size %s", (text, bytes) => {
    const env = { COGNITION_SANDBOX_BACKEND: "docker", COGNITION_DOCKER_MEMORY_LIMIT: text };
    expect(settings(env).limits.memory_bytes).toBe(bytes);
  });

  test("of other sandboxes are not those of containers", () => {
    const { limits } = settings({ COGNITION_DOCKER_TIMEOUT: "1", COGNITION_DOCKER_MEMORY_LIMIT: "1g" });
    expect(limits).toMatchObject({ timeout_ms: 300_000, memory_bytes: 512 * 2 ** 20 });
  });
});
