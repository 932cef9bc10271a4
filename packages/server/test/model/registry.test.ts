import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { CreateProvider } from "@cognition/contract";
import { describe, expect, test } from "vitest";
import { createKeyRing } from "../../src/model/key-ring.ts";
import { createMemoryProviderStore } from "../../src/model/memory-provider-store.ts";
import { createModelRegistry } from "../../src/model/model-registry.ts";
import { OfflineModel } from "../../src/model/offline/offline-model.ts";
import { KEY, modelOf, PROTOCOLS, provider, registry } from "./providers.ts";
import { openScriptedServer } from "./scripted-server.ts";

const [openaiProtocol] = PROTOCOLS;
if (!openaiProtocol) throw new Error("no protocol");
const input = (more: object = {}) =>
  CreateProvider.parse({
    id: "mine",
    provider: "openai_compatible",
    base_url: "http://127.0.0.1:9/v1",
    model: "m",
    ...more,
  });

describe("without any configuration", () => {
  test("the offline model answers, labelled as what it is, to any model's name", async () => {
    const made = createModelRegistry({ env: {} });
    expect(await made.list()).toMatchObject([
      { id: "offline", provider: "offline", enabled: true, display_name: expect.stringContaining("Offline") },
    ]);
    const selection = await made.select({ session: { model: "gpt-whatever" } });
    const model = await made.createModel(selection);
    expect(selection).toMatchObject({ provider: { id: "offline" }, model: "gpt-whatever" });
    expect(model).toBeInstanceOf(OfflineModel);
    const reply = await model.invoke("hello");
    expect(reply.text).toContain("offline model");
    expect(reply.response_metadata["model_name"]).toBe("offline");
  });

  test("and with the offline model off, the error says what to set", async () => {
    await expect(createModelRegistry({ env: {}, offline: "off" }).select()).rejects.toMatchObject({
      code: "no_provider_enabled",
      message: expect.stringContaining("OPENAI_API_KEY"),
    });
  });
});

describe("a key in the environment", () => {
  test.each([
    ["OPENAI_API_KEY", "openai"],
    ["ANTHROPIC_API_KEY", "anthropic"],
  ])("%s alone configures %s", async (name, id) => {
    const made = createModelRegistry({ env: { [name]: KEY } });
    const selection = await made.select();
    expect(selection).toMatchObject({ provider: { id, base_url: null }, fallbacks: [] });
    await expect(made.createModel(selection)).resolves.toBeDefined();
    expect(JSON.stringify(await made.list())).not.toContain(KEY);
    expect(await made.list()).toMatchObject([
      { id, has_key: true },
      { id: "offline", enabled: false },
    ]);
  });

  test("leaves the offline provider to those who name it", async () => {
    const made = createModelRegistry({ env: { OPENAI_API_KEY: KEY } });
    expect((await made.select({ session: { provider_id: "offline" } })).provider.id).toBe("offline");
  });

  test("is not set: said when the model is made, by the variable's name", async () => {
    const made = registry([provider(openaiProtocol, "http://127.0.0.1:9")], { env: {} });
    await expect(modelOf(made)).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining("TEST_KEY"),
    });
  });
});

describe("keys", () => {
  test("go only to the hosts that their variable is bound to", async () => {
    const made = createModelRegistry({ env: { OPENAI_API_KEY: KEY } });
    const evil = input({ provider: "openai", base_url: "https://evil.example/v1", api_key_env: "OPENAI_API_KEY" });
    await expect(made.create(evil)).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining("api.openai.com"),
    });
    expect(() => createModelRegistry({ env: {}, providers: [{ ...evil, scope: {}, source: "file" }] })).toThrow(
      "evil.example",
    );
    expect(await made.list()).toHaveLength(2);
  });

  test("of variables that are not on the list are refused by name", async () => {
    const made = createModelRegistry({ env: { AWS_SECRET: KEY } });
    await expect(made.create(input({ api_key_env: "AWS_SECRET" }))).rejects.toMatchObject({
      message: expect.stringMatching(/AWS_SECRET.*OPENAI_API_KEY/s),
    });
  });

  test("may go to subdomains where that is said, and nowhere that only looks like one", async () => {
    const made = createModelRegistry({ env: {}, keyHosts: { CORP_KEY: ["*.corp.example", "localhost:8080"] } });
    const at = (base_url: string, id: string) => made.create(input({ id, base_url, api_key_env: "CORP_KEY" }));
    await expect(at("https://llm.corp.example/v1", "a")).resolves.toBeDefined();
    await expect(at("http://localhost:8080/v1", "b")).resolves.toBeDefined();
    for (const url of ["https://corp.example.evil/v1", "https://evilcorp.example/v1", "http://localhost:9090/v1"]) {
      await expect(at(url, "c")).rejects.toMatchObject({ code: "invalid_config" });
    }
  });
});

test("a host that an operator adds for a key leaves it its maker's own", async () => {
  const made = createModelRegistry({ env: {}, keyHosts: { OPENAI_API_KEY: ["gateway.example"] } });
  for (const host of ["gateway.example", "api.openai.com"]) {
    const fields = { id: host.split(".")[0] ?? "", provider: "openai", api_key_env: "OPENAI_API_KEY" };
    await expect(made.create(input({ ...fields, base_url: `https://${host}/v1` }))).resolves.toBeDefined();
  }
});

test("a key is taken out wherever it stands in what a provider says, and so is what looks like one", () => {
  const { redact } = createKeyRing({ env: { CORP_KEY: "house-secret" }, hosts: { CORP_KEY: ["a.example"] } });
  expect(redact("house-secret is wrong, (house-secret)")).toBe("[CORP_KEY] is wrong, ([CORP_KEY])");
  expect(redact("not sk-abcdefgh1234, nor sk-ab****cd")).toBe("not [key], nor [key]");
});

describe("what the configuration says of providers", () => {
  test("is refused where two have the same id: which was meant, nobody could tell", () => {
    const one = provider(openaiProtocol, "http://127.0.0.1:9");
    expect(() => registry([one, { ...one, model: "another" }])).toThrow(/two providers with the id "openai"/);
  });

  test("is refused where the default is none of them, nor one made through the API", async () => {
    const store = createMemoryProviderStore();
    const named = (provider_id: string) => createModelRegistry({ env: {}, store, defaults: { provider_id } });
    await expect(named("mine").checkDefaults()).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/"mine".*there are: offline/),
    });
    await named("offline").create(input());
    await expect(named("mine").checkDefaults()).resolves.toBeUndefined();
  });
});

test("a stored provider whose key is no longer allowed there gets none", async () => {
  const store = createMemoryProviderStore();
  const { idempotency_key: _, ...fields } = input({
    provider: "openai",
    base_url: "https://evil.example/v1",
    api_key_env: "OPENAI_API_KEY",
  });
  await store.put({ ...fields, scope: {}, source: "api" }, null);
  const made = createModelRegistry({ env: { OPENAI_API_KEY: KEY }, store });
  await expect(modelOf(made)).rejects.toMatchObject({
    code: "invalid_config",
    message: expect.stringContaining("evil.example"),
  });
});

test("an absent package is told by Node as well as by the test runner", async () => {
  const kinds = pathToFileURL(join(import.meta.dirname, "../../src/model/kind/ollama-kind.ts")).href;
  const program = `const { ollamaKind } = await import(${JSON.stringify(kinds)});
    await ollamaKind.load({ model: "m", base_url: null, parameters: {} }).catch((error) => console.log(error.code, error.message));`;
  const args = ["--conditions=cognition-source", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  expect(stdout).toMatch(/^invalid_config .*npm install @langchain\/ollama/);
});

describe("providers made through the API", () => {
  test("are found, changed and removed in their own scope only", async () => {
    const made = createModelRegistry({ env: {} });
    const scope = { user: "ada" };
    await made.create(input(), scope);
    await expect(made.create(input(), scope)).rejects.toMatchObject({ code: "already_exists" });
    await expect(made.get("mine", { user: "bob" })).rejects.toMatchObject({ code: "provider_not_found" });
    expect(await made.update("mine", { priority: 3, display_name: null }, scope)).toMatchObject({
      priority: 3,
      model: "m",
      scope,
    });
    expect((await made.select({ scope })).provider.id).toBe("mine");
    expect((await made.select()).provider.id).toBe("offline");
    await made.remove("mine", scope);
    await expect(made.remove("mine", scope)).rejects.toMatchObject({ code: "provider_not_found" });
  });

  test("can't be changed from a narrower scope, nor those of the configuration at all", async () => {
    const made = createModelRegistry({ env: { OPENAI_API_KEY: KEY } });
    await made.create(input());
    for (const [id, scope] of [
      ["mine", { user: "ada" }],
      ["openai", {}],
      ["offline", {}],
    ] as const) {
      await expect(made.update(id, { enabled: false }, scope)).rejects.toMatchObject({ code: "not_writable" });
    }
  });

  test("of an unknown kind, without an address, or with one that would not be asked as it stands, are refused and the valid ones named", async () => {
    const made = createModelRegistry({ env: {} });
    await expect(made.create(input({ provider: "nope" }))).rejects.toMatchObject({
      code: "unknown_provider",
      message: expect.stringMatching(/openai, openai_compatible, anthropic, google, bedrock, ollama, offline/),
    });
    await expect(made.create(input({ base_url: null }))).rejects.toMatchObject({
      message: expect.stringContaining("base_url"),
    });
    await expect(made.create(input({ provider: "bedrock", base_url: "http://vpce.example" }))).rejects.toMatchObject({
      message: expect.stringContaining("must begin with https"),
    });
  });

  test.each([
    ["google", "@langchain/google-genai"],
    ["bedrock", "@langchain/aws"],
    ["ollama", "@langchain/ollama"],
  ])("of the kind %s say which package they need", async (kind, name) => {
    const made = createModelRegistry({ env: { GOOGLE_API_KEY: KEY } });
    await made.create(input({ provider: kind, base_url: null }));
    await expect(modelOf(made)).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining(`npm install ${name}`),
    });
  });
});

describe("the test of a provider", () => {
  test("tells whether it works, and why not", async () => {
    await using server = await openScriptedServer();
    server.script(openaiProtocol.says("ok"), openaiProtocol.fails(401, `key ${KEY}`));
    const made = registry([provider(openaiProtocol, server.url)]);
    expect(await made.test("openai")).toMatchObject({ ok: true, model: "gpt-5.4", error: null });
    expect(await made.test("openai")).toMatchObject({
      ok: false,
      latency_ms: null,
      error: { code: "model_auth_failed" },
    });
  });
});

test("the test of a provider asks once, whatever it may be asked again otherwise", async () => {
  await using server = await openScriptedServer();
  server.script(openaiProtocol.fails(500, "boom"));
  const made = registry([provider(openaiProtocol, server.url, { max_retries: 3 })]);
  expect(await made.test("openai")).toMatchObject({ ok: false });
  expect(server.requests).toHaveLength(1);
});

test("a provider that is changed, or made anew under the name of another, has failed at nothing yet", async () => {
  await using server = await openScriptedServer();
  server.script(openaiProtocol.fails(500, "boom"));
  const keyHosts = { TEST_KEY: ["127.0.0.1"] };
  const made = createModelRegistry({ env: { TEST_KEY: KEY }, keyHosts, breaker: { failureThreshold: 1 } });
  const fields = { base_url: `${server.url}/v1`, max_retries: 0 };
  const failOnce = async () => {
    const model = await made.createModel(await made.select({ message: { provider_id: "mine" } }));
    await expect(model.invoke("hi")).rejects.toMatchObject({ code: "model_failed" });
    expect((await made.circuitBreakers())["mine"]).toMatchObject({ state: "open" });
  };
  await made.create(input(fields));
  await failOnce();
  await made.update("mine", { display_name: "Mine" });
  expect((await made.circuitBreakers())["mine"]).toBeUndefined();
  await failOnce();
  await made.remove("mine");
  await made.create(input(fields));
  expect((await made.circuitBreakers())["mine"]).toBeUndefined();
});

describe("the list of models", () => {
  test("has limits and prices where they are known, and null where not", async () => {
    const made = createModelRegistry({ env: { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY } });
    await made.create(input());
    const models = await made.models();
    expect(models).toContainEqual({
      id: "m",
      provider_id: "mine",
      provider: "openai_compatible",
      context_window: null,
      max_output_tokens: null,
      input_price: null,
      output_price: null,
    });
    expect(models.find(({ id }) => id === "claude-sonnet-5")).toMatchObject({
      provider_id: "anthropic",
      input_price: 2,
      output_price: 10,
      context_window: expect.any(Number),
    });
    expect(models.find(({ id }) => id === "gpt-5.4-mini")).toMatchObject({ provider_id: "openai", input_price: 0.75 });
  });
});
