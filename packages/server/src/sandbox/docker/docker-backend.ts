import { AppError, isAppError } from "@cognition/contract";
import { type Backend, type BackendAttempt, type BackendContext, INSIDE } from "../backend.ts";
import type { SandboxDescription } from "../sandbox.ts";
import { containerName, outputBytes, temporaryBytes } from "./container-settings.ts";
import { createDockerEngine, type DockerEngine, EngineRefusal } from "./docker-engine.ts";
import { createDockerHost } from "./docker-host.ts";
import { DEFAULT_IMAGE, DEFAULT_OWNER } from "./docker-options.ts";
import { reclaimContainers } from "./reclaim-containers.ts";
import { createSessionContainer, removeContainer } from "./session-container.ts";

/** Long enough for an engine that is just starting, short enough for somebody who waits for an error. */
const PROBE_MS = 5_000;

/** Containers of an engine: commands run under a kernel's full isolation, in an image of the user's choice. */
export async function createDockerBackend(context: BackendContext): Promise<BackendAttempt> {
  const { docker, environment, now } = context;
  const image = docker.image ?? DEFAULT_IMAGE;
  let engine: DockerEngine;
  try {
    engine = createDockerEngine({ host: docker.host, environment, now });
    await engine.call("answer", (client) => client.ping(), PROBE_MS);
    await engine.call("look for the image", (client) => client.getImage(image).inspect(), PROBE_MS);
  } catch (error) {
    if (error instanceof EngineRefusal) return refusedProbe(image, error);
    if (isAppError(error, "sandbox_unavailable", "invalid_config")) return error;
    throw error;
  }
  if (docker.reclaim ?? true) await reclaimContainers(engine, docker);
  return createBackend(engine, context);
}

function createBackend(engine: DockerEngine, context: BackendContext): Backend {
  const { docker, limits, now } = context;
  const owner = docker.owner ?? DEFAULT_OWNER;
  const network = (docker.network ?? "none") === "none" ? "none" : docker.network === "host" ? "host" : "engine";
  return {
    capabilities: { backend: "docker", shell: true, network, isolation: "container" },
    limits: describeLimits(context),
    warnings:
      network === "host" ? ["Commands share the network of the machine, with all that listens on its loopback."] : [],
    rootOf: () => INSIDE,
    keepsHosts: true,
    openHost: (session_id, workspace) => {
      const container = createSessionContainer({ engine, session_id, workspace, limits, docker });
      return createDockerHost({ engine, container, output_bytes: outputBytes(limits), now });
    },
    remove: (session_id) => removeContainer(engine, containerName(owner, session_id)),
    breakers: () => ({ docker: engine.breaker.state() }),
  };
}

function describeLimits({ limits }: BackendContext): SandboxDescription["limits"] {
  return {
    time: { value: `${limits.timeout_ms} ms`, enforced_by: "the supervisor" },
    output: { value: `${outputBytes(limits)} bytes`, enforced_by: "the supervisor" },
    processes: { value: `${limits.processes} processes`, enforced_by: "container" },
    memory: { value: `${limits.memory_bytes} bytes`, enforced_by: "container" },
    cpu: { value: `${limits.cpus} cores`, enforced_by: "container" },
    file_size: { value: `${limits.file_bytes} bytes in one file`, enforced_by: "container" },
    temporary_files: { value: `${temporaryBytes(limits)} bytes in /tmp`, enforced_by: "tmpfs" },
  };
}

function refusedProbe(image: string, cause: EngineRefusal): AppError {
  const message =
    cause.status === 404
      ? `The docker sandbox needs the image "${image}", which the engine does not have: build it from the folder sandbox-image of @cognition/server (packages/server), or name another one in COGNITION_DOCKER_IMAGE.`
      : `The Docker engine refused to be asked: ${cause.message}.`;
  return new AppError("sandbox_unavailable", message, { details: { image }, cause });
}
