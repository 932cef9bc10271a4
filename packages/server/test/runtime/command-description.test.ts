import { expect, it, onTestFinished } from "vitest";
import { describeCommands } from "../../src/runtime/command-description.ts";
import { says, scriptedProvider } from "./scripted-provider.ts";
import { say, startRuntime } from "./started-runtime.ts";

it("a model is told what the sandbox that it has does to a command", async () => {
  const { server, options } = await scriptedProvider(says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  await say(await startRuntime(options), "Go");
  const asked = server.requests[0]?.body as
    | { tools: { function: { name: string; description: string } }[] }
    | undefined;
  const description = asked?.tools.find((tool) => tool.function.name === "execute")?.function.description;
  expect(description).toContain("No shell reads the command");
  expect(description).toContain("It is not isolated");
  expect(description).not.toMatch(/isolated sandbox|absolute paths/);
});

it.each([
  ["bubblewrap", "none", "namespaces"],
  ["docker", "engine", "container"],
] as const)("%s has a shell, and shuts in", (backend, network, isolation) => {
  const told = describeCommands({ backend, shell: true, network, isolation });
  expect(told).toContain("A shell reads the command");
  expect(told).not.toContain("not isolated");
  expect(told.includes("no network")).toBe(network === "none");
});
