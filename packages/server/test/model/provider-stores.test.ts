import { engines } from "../../../thread/test/engines.ts";
import { createDurableProviderStore } from "../../src/model/durable-provider-store.ts";
import { createMemoryProviderStore } from "../../src/model/memory-provider-store.ts";
import { providerStoreContract } from "./provider-store-contract.ts";

providerStoreContract("in memory", async () => ({
  store: createMemoryProviderStore(),
  dispose: async () => undefined,
}));

for (const { name, open } of engines) {
  providerStoreContract(name, async () => {
    const { storage, second, reopen, dispose } = await open();
    return {
      store: createDurableProviderStore({ storage }),
      ...(second && { second: async () => createDurableProviderStore({ storage: await second() }) }),
      ...(reopen && { reopen: async () => createDurableProviderStore({ storage: await reopen() }) }),
      dispose,
    };
  });
}
