import { timelineContract } from "../src/conformance/timeline-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("the timeline", timelineContract);
