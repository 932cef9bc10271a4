import { eventContract } from "../src/conformance/event-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("events", eventContract);
