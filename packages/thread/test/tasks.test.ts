import { taskContract } from "../src/conformance/task-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("tasks", taskContract);
