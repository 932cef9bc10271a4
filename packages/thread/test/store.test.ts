import { storeContract } from "../src/conformance/store-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("the memory store", storeContract);
