import { hostname } from "node:os";
import type { Config } from "./config-schema.ts";

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** What the sandboxes take of the configuration. The seconds and sizes of containers keep the form that Docker users know. */
export function sandboxSettings({ sandbox }: Config, workspace_root: string) {
  const { backend, limits, docker } = sandbox;
  const { host_workspace, image, network } = docker;
  const ofContainers = {
    memory_bytes: parseSize(docker.memory_limit),
    cpus: docker.cpu_limit,
    timeout_ms: Math.round(docker.timeout * 1000),
  };
  return {
    limits: backend === "docker" ? { ...limits, ...ofContainers } : limits,
    docker: {
      image,
      network,
      idle_ms: Math.round(docker.idle_timeout * 1000),
      // Servers in containers may all call their workspace the same; the engine's own path tells them apart.
      owner: host_workspace ?? `${hostname()}:${workspace_root}`,
      ...(host_workspace !== undefined && { hostWorkspace: { root: workspace_root, path: host_workspace } }),
    },
  };
}

function parseSize(text: string): number {
  const [, number = "0", unit = "b"] = /^(\d+)([bkmg]?)$/i.exec(text) ?? [];
  return Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}
