import { AppError } from "@cognition/contract";
import type { Container, ContainerInspectInfo } from "dockerode";
import type { Workspace } from "../backend.ts";
import { makeProtectedFolders } from "../file/protected-folders.ts";
import { callContainer } from "./container-call.ts";
import { type ContainerRequest, containerName, containerSettings, LABELS } from "./container-settings.ts";
import { type DockerEngine, EngineRefusal } from "./docker-engine.ts";
import { DEFAULT_IDLE_MS, DEFAULT_OWNER } from "./docker-options.ts";
import { handOver, workspaceUser } from "./workspace-owner.ts";

/** The container of one session. */
export interface SessionContainer {
  /** A running one, made if there is none. It is kept as long as `use` takes. */
  use<T>(use: (container: Container) => Promise<T>): Promise<T>;
  /** The same, but undefined where there is none. */
  useExisting<T>(use: (container: Container) => Promise<T>): Promise<T | undefined>;
  /** It was not there any more: the next one to use it looks again. */
  lose(): void;
  /** Whether a command of it runs or has an end that nobody has fetched. */
  isNeeded(): Promise<boolean>;
  remove(): Promise<void>;
  /** Stops watching over it. */
  close(): void;
}

export interface SessionContainerOptions extends Omit<ContainerRequest, "user"> {
  readonly engine: DockerEngine;
}

export function createSessionContainer(options: SessionContainerOptions): SessionContainer {
  const { engine, session_id, docker } = options;
  const name = containerName(docker.owner ?? DEFAULT_OWNER, session_id);
  let known: { readonly container: Container; readonly settings: string } | undefined;
  let opening: Promise<Container> | undefined;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  async function open(): Promise<Container> {
    const settings = containerSettings({ ...options, user: await workspaceUser(options.workspace) });
    const wanted = settings.Labels?.[LABELS.settings] ?? "";
    // Others may be at work in the one there is: it is not taken from under them for a change of settings.
    if (known && (known.settings === wanted || users > 1)) return known.container;
    const found = await findContainer(engine, name);
    const fits =
      found?.State.Running && (found.Config.Labels[LABELS.settings] === wanted || (await isBusy(engine, name)));
    if (found && !fits) await removeContainer(engine, name);
    if (!fits) await make(engine, options.workspace, settings);
    known = { container: engine.docker.getContainer(name), settings: wanted };
    return known.container;
  }

  async function hold<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(idle);
    users++;
    try {
      return await work();
    } finally {
      users--;
      if (users === 0 && !closed) watchIdle();
    }
  }

  function watchIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => void removeIdle(), docker.idle_ms ?? DEFAULT_IDLE_MS).unref();
  }

  async function removeIdle(): Promise<void> {
    try {
      if (users > 0 || closed) return;
      if (await isBusy(engine, name)) return watchIdle();
      known = undefined;
      if (users === 0) await removeContainer(engine, name);
    } catch (error) {
      // An engine that is away has nothing to remove now; the container is found by the next start, or at the next turn.
      if (!(error instanceof AppError)) throw error;
      watchIdle();
    }
  }

  return {
    use: (use) =>
      hold(async () => {
        makeProtectedFolders(options.workspace);
        opening ??= open().finally(() => {
          opening = undefined;
        });
        return use(await opening);
      }),
    useExisting: (use) =>
      hold(async () => {
        const found = await findContainer(engine, name);
        return found?.State.Running ? use(engine.docker.getContainer(name)) : undefined;
      }),
    lose: () => {
      known = undefined;
    },
    isNeeded: () => hasCommands(engine, name),
    remove: () => {
      clearTimeout(idle);
      known = undefined;
      return removeContainer(engine, name);
    },
    close: () => {
      closed = true;
      clearTimeout(idle);
    },
  };
}

async function make(
  engine: DockerEngine,
  workspace: Workspace,
  settings: ReturnType<typeof containerSettings>,
): Promise<void> {
  await handOver(workspace, await workspaceUser(workspace));
  try {
    const container = await engine.call("make a container", (docker) => docker.createContainer(settings));
    await engine.call("start a container", () => container.start());
  } catch (error) {
    if (!(error instanceof EngineRefusal)) throw error;
    // Another process was first: its container is as good.
    if (error.status === 409) return;
    throw refused(settings.Image ?? "", error);
  }
}

async function findContainer(engine: DockerEngine, name: string): Promise<ContainerInspectInfo | undefined> {
  try {
    return await engine.call("look for a container", (docker) => docker.getContainer(name).inspect());
  } catch (error) {
    if (error instanceof EngineRefusal && error.status === 404) return undefined;
    throw error;
  }
}

export async function removeContainer(engine: DockerEngine, name: string): Promise<void> {
  try {
    await engine.call("remove a container", (docker) => docker.getContainer(name).remove({ force: true, v: true }));
  } catch (error) {
    // Gone already, or (409) being removed by somebody else.
    if (error instanceof EngineRefusal && (error.status === 404 || error.status === 409)) return;
    throw error;
  }
}

function isBusy(engine: DockerEngine, name: string): Promise<boolean> {
  return hasCommands(engine, name, ({ running }) => running);
}

export async function hasCommands(
  engine: DockerEngine,
  name: string,
  matches: (command: { readonly running: boolean }) => boolean = () => true,
): Promise<boolean> {
  try {
    const told = await callContainer(engine, engine.docker.getContainer(name), { action: "list", name: "." });
    return told.some((line) => line.type === "command" && matches(line));
  } catch (error) {
    // Not there, or not running.
    if (error instanceof EngineRefusal) return false;
    throw error;
  }
}

function refused(image: string, cause: EngineRefusal): AppError {
  const missing = cause.status === 404;
  const message = missing
    ? `The Docker engine has no image "${image}". Nothing was run; build it from the folder sandbox-image of @cognition/server (packages/server), or name another one in COGNITION_DOCKER_IMAGE.`
    : `The Docker engine refused to make a container: ${cause.message}. Nothing was run.`;
  return new AppError("sandbox_unavailable", message, { details: { backend: "docker", image }, cause });
}
