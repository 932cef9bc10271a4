/** How the docker sandbox makes its containers. What they may use stands in the limits of all sandboxes. */
export interface DockerOptions {
  /** Where the engine listens, as DOCKER_HOST gives it: `unix://…` or `tcp://…`. The environment's otherwise. */
  readonly host?: string;
  readonly image?: string;
  /** The name of one of the engine's networks. */
  readonly network?: string;
  /**
   * Where the engine sees what this server sees at `root`: for a server that itself runs in a container, whose paths mean
   * nothing to the engine.
   */
  readonly hostWorkspace?: { readonly root: string; readonly path: string };
  /** Whose containers these are. Those of another name are never touched: two servers may share an engine. */
  readonly owner?: string;
  /** Whether what servers of this owner left behind is taken away: not by one that works beside another. */
  readonly reclaim?: boolean;
  /** How long a container without a command is kept. */
  readonly idle_ms?: number;
}

export const DEFAULT_IMAGE = "cognition-sandbox:latest";
export const DEFAULT_IDLE_MS = 15 * 60_000;
export const DEFAULT_OWNER = "cognition";
