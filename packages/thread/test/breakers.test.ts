import { breakerContract } from "../src/conformance/breaker-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("breakers", breakerContract);
