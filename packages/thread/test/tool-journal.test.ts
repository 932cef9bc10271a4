import { journalContract } from "../src/conformance/journal-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("calls", journalContract);
