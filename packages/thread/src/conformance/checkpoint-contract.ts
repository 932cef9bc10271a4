import { checkpointFenceContract } from "./checkpoint-fence-contract.ts";
import { checkpointForkContract } from "./checkpoint-fork-contract.ts";
import { checkpointModelContract } from "./checkpoint-model-contract.ts";
import { checkpointMutationContract } from "./checkpoint-mutation-contract.ts";
import { checkpointPipelineContract } from "./checkpoint-pipeline-contract.ts";
import { checkpointProjectionContract } from "./checkpoint-projection-contract.ts";
import { checkpointPruneContract } from "./checkpoint-prune-contract.ts";
import { checkpointSubgraphContract } from "./checkpoint-subgraph-contract.ts";
import { checkpointThreadContract } from "./checkpoint-thread-contract.ts";
import { checkpointValueContract } from "./checkpoint-value-contract.ts";
import { checkpointWriteMutationContract } from "./checkpoint-write-mutation-contract.ts";
import { checkpointWriterContract } from "./checkpoint-writer-contract.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";

/** The checkpointer: forks, writers, fences, values, sharing, pruning, and the messages that follow it. */
export function checkpointContract(open: OpenStorage): void {
  checkpointMutationContract(open);
  checkpointWriteMutationContract(open);
  checkpointModelContract(open);
  checkpointForkContract(open);
  checkpointWriterContract(open);
  checkpointFenceContract(open);
  checkpointPipelineContract(open);
  checkpointPruneContract(open);
  checkpointSubgraphContract(open);
  checkpointProjectionContract(open);
  checkpointValueContract(open);
  checkpointThreadContract(open);
}
