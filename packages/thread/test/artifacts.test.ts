import { artifactContract } from "../src/conformance/artifact-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("artifacts", artifactContract);
