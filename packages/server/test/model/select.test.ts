import { describe, expect, test } from "vitest";
import type { ProviderDefinition } from "../../src/model/provider-definition.ts";
import { visibleProviders } from "../../src/model/scope-order.ts";
import { selectModel } from "../../src/model/select-model.ts";

function provider(id: string, more: Partial<ProviderDefinition> = {}): ProviderDefinition {
  return {
    id,
    provider: "openai_compatible",
    display_name: null,
    model: `${id}-model`,
    enabled: true,
    priority: 100,
    base_url: "http://127.0.0.1:1/v1",
    api_key_env: null,
    max_retries: 0,
    timeout_ms: 1_000,
    scope: {},
    source: "file",
    ...more,
  };
}

const first = provider("first", { priority: 1 });
const second = provider("second", { priority: 2, provider: "anthropic" });
const shut = provider("shut", { priority: 0, enabled: false });
const all = [second, first, shut];

describe("the choice of a provider and a model", () => {
  test("is the first enabled provider by priority with its own model, if nobody says anything", () => {
    expect(selectModel(all, {})).toMatchObject({ provider: first, model: "first-model", parameters: {} });
  });

  test("takes the message's word over the session's over the agent's over the default", () => {
    const levels = { message: { model: "m" }, session: { model: "s" }, agent: { model: "a" } };
    const options = { defaults: { model: "d" } };
    expect(selectModel(all, levels, options).model).toBe("m");
    expect(selectModel(all, { ...levels, message: {} }, options).model).toBe("s");
    expect(selectModel(all, { agent: levels.agent }, options).model).toBe("a");
    expect(selectModel(all, { session: { model: null } }, options).model).toBe("d");
  });

  test("takes each parameter from the first level that has it, zero included", () => {
    const request = {
      message: { temperature: 0 },
      session: { temperature: 1, max_tokens: 5 },
      agent: { max_tokens: 9 },
    };
    expect(selectModel(all, request, { defaults: { max_tokens: 1 } }).parameters).toEqual({
      temperature: 0,
      max_tokens: 5,
    });
  });

  test("sends a model named alone to the first enabled provider, not to one pinned for another model", () => {
    const request = { message: { model: "other" }, session: { provider_id: "second", model: "mine" } };
    expect(selectModel(all, request)).toMatchObject({ provider: first, model: "other" });
  });

  test("keeps to a pinned provider, with its own model before an inherited one", () => {
    expect(selectModel(all, { session: { provider_id: "second" }, agent: { model: "a" } })).toMatchObject({
      provider: second,
      model: "second-model",
    });
    const bare = provider("bare", { model: null });
    expect(selectModel([bare], { session: { provider_id: "bare" }, agent: { model: "a" } }).model).toBe("a");
  });

  test("finds a provider by its kind", () => {
    expect(selectModel(all, { session: { provider: "anthropic" } }).provider).toBe(second);
  });

  test.each([
    ["an id that there is not", { session: { provider_id: "nope" } }, "unknown_provider", /"nope".*first, second/],
    [
      "a kind that there is not",
      { session: { provider: "nope" } },
      "unknown_provider",
      /"nope".*openai_compatible, anthropic/,
    ],
    [
      "a disabled one",
      { session: { provider_id: "shut" } },
      "no_provider_enabled",
      /"shut" is disabled.*first, second/,
    ],
  ] as const)("refuses %s and names the valid ones", (_, request, code, message) => {
    expect(() => selectModel(all, request)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  test("says that none is enabled, or that no model is known", () => {
    expect(() => selectModel([shut], {})).toThrow(expect.objectContaining({ code: "no_provider_enabled" }));
    expect(() => selectModel([provider("bare", { model: null, priority: 0 }), second], {})).toThrow(
      expect.objectContaining({ code: "unknown_model", message: expect.stringContaining("second-model (second)") }),
    );
  });
});

describe("scopes", () => {
  const ours = provider("ours", { scope: { user: "ada" }, priority: 900 });
  const theirs = provider("theirs", { scope: { user: "bob" }, priority: 0 });
  const project = provider("first", { scope: { user: "ada", project: "x" }, model: "closest" });

  test("of one priority come by their ids", () => {
    const [b, a, c] = ["b", "a", "c"].map((id) => provider(id)) as [typeof ours, typeof ours, typeof ours];
    expect(visibleProviders([b, a, c]).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("come from the most specific outward, whatever the priority", () => {
    const providers = [first, ours, theirs, project];
    expect(selectModel(providers, {}).provider).toBe(first);
    expect(selectModel(providers, { scope: { user: "ada" } }).provider).toBe(ours);
    expect(selectModel(providers, { scope: { user: "ada", project: "x" } }).provider).toBe(project);
  });

  test("hide what is of another", () => {
    expect(() => selectModel([first, theirs], { scope: { user: "ada" }, session: { provider_id: "theirs" } })).toThrow(
      expect.objectContaining({ code: "unknown_provider", message: expect.not.stringContaining("theirs,") }),
    );
  });
});

describe("fallbacks", () => {
  const offline = provider("offline", { provider: "offline", model: "offline" });

  test("are the other enabled providers with a model of their own, only when configured, and never the offline one", () => {
    const providers = [first, second, shut, offline, provider("bare", { model: null })];
    expect(selectModel(providers, {}).fallbacks).toEqual([]);
    expect(selectModel(providers, {}, { fallback: true }).fallbacks).toEqual([
      { provider: second, model: "second-model" },
    ]);
    expect(selectModel(providers, { session: { provider_id: "first" } }, { fallback: true }).fallbacks).toEqual([]);
  });

  test("are there for the configuration's own provider too: it is where to begin, and nobody's pin", () => {
    const options = { fallback: true, defaults: { provider_id: "second" } };
    expect(selectModel(all, {}, options)).toMatchObject({ provider: second, fallbacks: [{ provider: first }] });
    expect(selectModel(all, { agent: { provider_id: "second" } }, options).fallbacks).toEqual([]);
  });
});
