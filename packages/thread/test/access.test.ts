import { expect, it } from "vitest";
import { accessContract } from "../src/conformance/access-contract.ts";
import { openStorage } from "../src/open-storage.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("access", accessContract);

it("whoever opened the storage can learn how long its writes take", async () => {
  const seconds: number[] = [];
  const storage = await openStorage({ backend: "memory", onCommit: (took) => seconds.push(took) });
  const before = seconds.length;
  await storage.createSession({});
  await storage.countSessions();
  expect(seconds.slice(before)).toEqual([expect.any(Number)]);
  await storage.close();
});
