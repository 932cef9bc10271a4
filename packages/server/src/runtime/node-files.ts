import { isAppError } from "@cognition/contract";
import type { ChainHooks } from "./run-callbacks.ts";
import type { RunScope } from "./run-scope.ts";

/** LangGraph marks the runs of its nodes and tasks so; what they are made of carries other tags. */
const STEP_TAG = "graph:step:";

/**
 * Takes in what a node of a user's own graph has written by itself, before the checkpoint of its step is stored: a
 * rewind to it brings these files back too.
 */
export function createNodeFiles({ workspace }: Pick<RunScope, "workspace">): ChainHooks {
  const nodes = new Set<string>();

  async function ended(runId: string): Promise<void> {
    if (!nodes.delete(runId)) return;
    try {
      await workspace.step();
    } catch (error) {
      // The run is not this node's any more, and the commit of the step will say so.
      if (!isAppError(error)) throw error;
    }
  }

  return {
    handleChainStart: (_chain, _inputs, runId, _runType, tags) => {
      if (tags?.some((tag) => tag.startsWith(STEP_TAG))) nodes.add(runId);
    },
    handleChainEnd: (_outputs, runId) => ended(runId),
    handleChainError: (_error, runId) => ended(runId),
  };
}
