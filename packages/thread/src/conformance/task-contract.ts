import { describe } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { taskChangeContract } from "./task-change-contract.ts";
import { taskLifecycleContract } from "./task-lifecycle-contract.ts";
import { taskRaceContract } from "./task-race-contract.ts";

/** What `createTasks` promises, on any storage. */
export function taskContract(open: OpenStorage): void {
  describe("start, continue, complete", () => taskLifecycleContract(open));
  describe("changes", () => taskChangeContract(open));
  describe("races", () => taskRaceContract(open));
}
