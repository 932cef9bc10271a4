import { checkpointContract } from "../src/conformance/checkpoint-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("checkpoints", checkpointContract);
