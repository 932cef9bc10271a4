import { runContract } from "../src/conformance/run-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("runs", runContract);
