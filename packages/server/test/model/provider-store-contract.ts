import { describe, expect, it } from "vitest";
import type { ProviderDefinition } from "../../src/model/provider-definition.ts";
import type { ProviderStore } from "../../src/model/provider-store.ts";

export interface ProviderStoreFixture {
  store: ProviderStore;
  /** The same data as another process has it; absent where there can be only one. */
  second?: () => Promise<ProviderStore>;
  /** The same data opened anew; absent where it does not outlive the process. */
  reopen?: () => Promise<ProviderStore>;
  dispose(): Promise<void>;
}

const define = (id: string, given: Partial<ProviderDefinition> = {}): ProviderDefinition => ({
  id,
  provider: "openai_compatible",
  display_name: `it's "odd" % _ 漢 👋`,
  model: "m",
  enabled: true,
  priority: 100,
  base_url: "http://127.0.0.1:9/v1",
  api_key_env: null,
  max_retries: 2,
  timeout_ms: 60_000,
  scope: {},
  source: "api",
  ...given,
});

/** What every ProviderStore promises. */
export function providerStoreContract(name: string, open: () => Promise<ProviderStoreFixture>): void {
  const test = (title: string, body: (fixture: ProviderStoreFixture) => Promise<void>) =>
    it(title, async () => {
      const fixture = await open();
      try {
        await body(fixture);
      } finally {
        await fixture.dispose();
      }
    });

  describe(`provider store: ${name}`, () => {
    test("gives back what was put, also after it was opened anew", async ({ store, reopen }) => {
      const provider = define("a ' %", { scope: { user: "ann", project: "p" } });
      expect(await store.put(provider, null)).toBe(true);
      const after = reopen ? await reopen() : store;
      expect(await after.list()).toEqual([provider]);
      expect(await after.find("a ' %", { project: "p", user: "ann" })).toEqual(provider);
    });

    test("keeps scopes apart", async ({ store }) => {
      for (const scope of [{}, { user: "ann" }, { user: "bob" }]) {
        expect(await store.put(define("a", { scope }), null)).toBe(true);
      }
      expect(await store.remove("a", { user: "eve" })).toBe(false);
      expect(await store.remove("a", { user: "ann" })).toBe(true);
      expect(await store.remove("a", { user: "ann" })).toBe(false);
      expect((await store.list()).map(({ scope }) => scope)).toEqual(expect.arrayContaining([{}, { user: "bob" }]));
      expect(await store.find("a", { user: "ann" })).toBeNull();
    });

    test("writes only over what the writer has seen", async ({ store }) => {
      const [one, two, three] = [define("a"), define("a", { priority: 2 }), define("a", { priority: 3 })];
      expect(await store.put(one, two)).toBe(false);
      expect(await store.put(one, null)).toBe(true);
      expect(await store.put(two, null)).toBe(false);
      expect(await store.put(two, one)).toBe(true);
      expect(await store.put(three, one)).toBe(false);
      expect(await store.list()).toEqual([two]);
    });

    test("of many writers at once one wins", async ({ store, second }) => {
      const other = second ? await second() : store;
      const writes = Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? store : other).put(define("a", { priority: n }), null),
      );
      expect((await Promise.all(writes)).filter(Boolean)).toHaveLength(1);
    });
  });
}
