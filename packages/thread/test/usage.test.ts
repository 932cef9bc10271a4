import { usageContract } from "../src/conformance/usage-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("usage", usageContract);
