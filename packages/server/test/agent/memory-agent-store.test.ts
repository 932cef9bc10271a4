import { createMemoryAgentStore } from "../../src/agent/memory-agent-store.ts";
import { agentStoreContract } from "./agent-store-contract.ts";

agentStoreContract("memory", async () => ({ store: createMemoryAgentStore(), dispose: async () => undefined }));
