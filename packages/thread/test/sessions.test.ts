import { sessionContract } from "../src/conformance/session-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("sessions", sessionContract);
