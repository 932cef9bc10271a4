import { LABELS } from "./container-settings.ts";
import type { DockerEngine } from "./docker-engine.ts";
import { DEFAULT_OWNER, type DockerOptions } from "./docker-options.ts";
import { hasCommands, removeContainer } from "./session-container.ts";

/**
 * Removes what servers of this owner left behind. A container with a command that runs, or whose end nobody has fetched, is
 * kept: the run it belongs to is about to be taken up again.
 */
export async function reclaimContainers(engine: DockerEngine, { owner = DEFAULT_OWNER }: DockerOptions): Promise<void> {
  const filters = { label: [`${LABELS.owner}=${owner}`] };
  const found = await engine.call("list containers", (docker) => docker.listContainers({ all: true, filters }));
  await Promise.all(
    found.map(async ({ Id, State }) => {
      if (State !== "running" || !(await hasCommands(engine, Id))) await removeContainer(engine, Id);
    }),
  );
}
