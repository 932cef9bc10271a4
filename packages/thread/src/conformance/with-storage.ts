import type { OpenStorage, StorageFixture } from "./open-storage-fixture.ts";

/** A test's body with a fresh back end, disposed of whatever happens. */
export function withStorage(open: OpenStorage, body: (fixture: StorageFixture) => Promise<void>): () => Promise<void> {
  return async () => {
    const fixture = await open();
    try {
      await body(fixture);
    } finally {
      await fixture.dispose();
    }
  };
}
