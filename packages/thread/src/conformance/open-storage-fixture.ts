import type { Storage } from "../storage.ts";

/** One back end with data of its own, empty at first. A test disposes of it, whatever happened. */
export interface StorageFixture {
  storage: Storage;
  /** Closes the storage and opens it again on the same data; absent where data does not outlive the process. */
  reopen?: () => Promise<Storage>;
  /** One more instance on the same data, as another process has it; absent where there can be only one. */
  second?: () => Promise<Storage>;
  /** Closes every instance that was handed out and removes the data. */
  dispose(): Promise<void>;
}

export type OpenStorage = () => Promise<StorageFixture>;
