import { messageContract } from "../src/conformance/message-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("messages", messageContract);
