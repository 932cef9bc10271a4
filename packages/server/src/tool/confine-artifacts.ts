import type { Scope } from "@cognition/contract";
import type { ArtifactStore } from "@cognition/thread";
import type { ToolArtifacts } from "./tool.ts";

/** The artifact store as one run may use it: it reads as that run, and what it makes is its session's. */
export function confineArtifacts(
  store: ArtifactStore,
  reader: { scope: Scope; session_id: string; run_id: string },
): ToolArtifacts {
  const { scope, session_id, run_id } = reader;
  return {
    create: (artifact) => store.createArtifact({ ...artifact, session_id, run_id, scopes: scope }),
    update: (id, change) => store.updateArtifact(id, { ...change, run_id }, reader),
    get: (id, version) =>
      version === undefined ? store.getArtifact(id, reader) : store.getVersion(id, version, reader),
    list: (filter) => store.listArtifacts(reader, filter),
  };
}
