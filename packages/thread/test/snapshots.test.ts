import { snapshotContract } from "../src/conformance/snapshot-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("snapshots", snapshotContract);
