import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AppError, isAppError } from "@cognition/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import type { Flags } from "../../src/config/flag-layer.ts";
import { describeOrigin } from "../../src/config/origin.ts";
import { loadConfig } from "../../src/config.ts";

let dir: TempDir;
beforeEach(() => {
  dir = createTempDir();
});
afterEach(() => dir.remove());

function write(folder: string, yaml: string): string {
  const file = join(dir.path, folder, ".cognition", "config.yaml");
  mkdirSync(join(dir.path, folder, ".cognition"), { recursive: true });
  writeFileSync(file, yaml);
  return file;
}

function load(env: Record<string, string> = {}, flags: Flags = {}) {
  mkdirSync(join(dir.path, "project/inner"), { recursive: true });
  return loadConfig({ env, flags, cwd: join(dir.path, "project/inner"), home: join(dir.path, "home") });
}

function failure(env: Record<string, string> = {}, flags: Flags = {}): AppError {
  try {
    load(env, flags);
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

describe("where values come from", () => {
  test("the defaults are those of the documents", () => {
    const { config, origins } = load();
    expect(config).toMatchObject({
      server: { host: "127.0.0.1", port: 8000 },
      sandbox: {
        backend: "local",
        docker: {
          image: "cognition-sandbox:latest",
          network: "none",
          memory_limit: "512m",
          cpu_limit: 1,
          timeout: 300,
        },
      },
      sse: { retry_interval: 3000, heartbeat_interval: 15, buffer_size: 100 },
      scoping: { enabled: false, keys: ["user"] },
      log: { level: "info" },
      workspace: { root: join(dir.path, "project/inner"), isolation: "session" },
    });
    expect(new Set([...origins.values()].map(({ from }) => from))).toEqual(new Set(["default"]));
  });

  test("each layer goes over the one before it, key by key", () => {
    const home = write("home", "server: {host: home, port: 1}\nlog: {level: debug}\nsse:\n  retry_interval: 10\n");
    const project = write("project", "server:\n  host: project\n  port: 2\n");
    const flags = { "server.port": { flag: "--port", text: "4" } };
    const { config, origins } = load({ COGNITION_HOST: "environment", COGNITION_PORT: "3" }, flags);
    expect(config.server).toMatchObject({ host: "environment", port: 4 });
    expect(config.log.level).toBe("debug");
    expect(config.sse.retry_interval).toBe(10);
    const place = (path: string) => describeOrigin(origins.get(path) ?? { from: "default" });
    expect(place("server.port")).toBe("--port");
    expect(place("server.host")).toBe("COGNITION_HOST");
    expect(place("log.level")).toBe(`${home}:2`);
    expect(place("sse.retry_interval")).toBe(`${home}:4`);
    const { origins: without } = load();
    expect(describeOrigin(without.get("server.port") ?? { from: "default" })).toBe(`${project}:3`);
  });

  test("a mapping that is one key's value is taken as a whole: the home's secret headers are not for another collector", () => {
    write("home", "traces: {endpoint: 'https://a.example', headers: {x-key: secret}, service_name: mine}\n");
    const project = write("project", "traces: {endpoint: 'https://b.example', headers: {x-other: '1'}}\n");
    const { config, origins } = load();
    expect(config.traces).toEqual({ endpoint: "https://b.example", headers: { "x-other": "1" }, service_name: "mine" });
    expect(describeOrigin(origins.get("traces.headers") ?? { from: "default" })).toBe(`${project}:1`);
    expect(load({ COGNITION_TRACES_HEADERS: "{}" }).config.traces.headers).toEqual({});
  });

  test("a file in the home that is also the nearest one is read once", () => {
    const file = write("home", "server: {port: 1}\n");
    const { origins } = loadConfig({ env: {}, cwd: join(dir.path, "home"), home: join(dir.path, "home") });
    expect(origins.get("server.port")).toEqual({ from: "file", file, line: 1 });
  });

  test("a root in a file is relative to the folder that holds .cognition", () => {
    write("project", "workspace: {root: files}\n");
    expect(load().config.workspace.root).toBe(join(dir.path, "project/files"));
    expect(load({ COGNITION_WORKSPACE_ROOT: "files" }).config.workspace.root).toBe(
      join(dir.path, "project/inner/files"),
    );
  });

  test("the file of a workspace elsewhere is read too, over the one from here: its agents and tools are", () => {
    write("project", "server: {host: project, port: 2}\nworkspace: {root: ../named}\n");
    const named = write("named", "server: {port: 3}\nscoping: {enabled: true}\n");
    write("elsewhere", "server: {port: 4}\n");
    const { config, origins } = load();
    expect(config.server).toMatchObject({ host: "project", port: 3 });
    expect(config.scoping.enabled).toBe(true);
    expect(origins.get("server.port")).toEqual({ from: "file", file: named, line: 1 });
    expect(load({ COGNITION_WORKSPACE_ROOT: "../../elsewhere" }).config.server.port).toBe(4);
    const flags = { "workspace.root": { flag: "--workspace", text: join(dir.path, "elsewhere") } };
    expect(load({}, flags).config.server.port).toBe(4);
    expect(load({ COGNITION_PORT: "5" }, flags).config.server.port).toBe(5);
    write("elsewhere", "serve: {}\n");
    expect(failure({}, flags).message).toContain("elsewhere/.cognition/config.yaml:1");
  });

  test.each(["home", "project", "project/inner"])(
    "a config.yml in %s is refused: it would be passed over",
    (folder) => {
      write("project", "server: {port: 2}\n");
      const misnamed = write(folder, "scoping: {enabled: true}\n").replace(/yaml$/, "yml");
      writeFileSync(misnamed, "scoping: {enabled: true}\n");
      expect(failure()).toMatchObject({ code: "invalid_config" });
      expect(failure().message).toContain(`${misnamed} is not read`);
    },
  );

  test("a section with nothing in it is as good as left out", () => {
    write("project", "server:\n  # port: 1\nlog:\n  level:\n");
    expect(load().config).toMatchObject({ server: { port: 8000 }, log: { level: "info" } });
  });
});

describe("variables", () => {
  test.each([
    ["user,project", ["user", "project"]],
    ["user, project", ["user", "project"]],
    ['["user","project"]', ["user", "project"]],
    ["user", ["user"]],
  ])("a list may be %j", (text, keys) => {
    expect(load({ COGNITION_SCOPE_KEYS: text }).config.scoping.keys).toEqual(keys);
  });

  test.each([
    ["true", true],
    ["1", true],
    ["FALSE", false],
    ["off", false],
    ["", false],
  ])("a switch may be %j", (text, enabled) => {
    expect(load({ COGNITION_SCOPING_ENABLED: text }).config.scoping.enabled).toBe(enabled);
  });

  test("an object or a list of objects is JSON", () => {
    const providers = JSON.stringify([
      { id: "here", provider: "openai_compatible", base_url: "http://127.0.0.1:1/v1" },
    ]);
    const { config } = load({ COGNITION_MODELS_PROVIDERS: providers });
    expect(config.models.providers).toMatchObject([{ id: "here", priority: 100, enabled: true }]);
  });

  test("an alias works, and contradicting names do not", () => {
    expect(load({ TETHER_STORAGE_BACKEND: "memory" }).config.chat.backend).toBe("memory");
    const error = failure({ TETHER_STORAGE_BACKEND: "memory", COGNITION_CHAT_BACKEND: "sqlite" });
    expect(error.message).toContain("COGNITION_CHAT_BACKEND");
    expect(error.message).toContain("TETHER_STORAGE_BACKEND");
  });

  test("an unknown one stops with its name and what is like it", () => {
    const error = failure({ COGNITION_PROT: "1", COGNITION_HOST: "a" });
    expect(error.code).toBe("unknown_config_key");
    expect(error.message).toMatch(/^COGNITION_PROT: no such variable\. The nearest are COGNITION_PORT,/);
  });

  test("those of other programs and those that Kubernetes injects are passed over", () => {
    const env = {
      PATH: "/bin",
      OPENAI_API_KEY: "sk-1",
      COGNITION_PORT: "tcp://10.0.0.1:8000",
      COGNITION_PORT_8000_TCP: "tcp://10.0.0.1:8000",
      COGNITION_PORT_8000_TCP_PROTO: "tcp",
      COGNITION_PORT_8000_TCP_PORT: "8000",
      COGNITION_PORT_8000_TCP_ADDR: "10.0.0.1",
      COGNITION_SERVICE_HOST: "10.0.0.1",
      COGNITION_SERVICE_PORT: "8000",
      COGNITION_SERVICE_PORT_HTTP: "8000",
      COGNITION_POSTGRES_SERVICE_HOST: "10.0.0.2",
      COGNITION_POSTGRES_PORT: "tcp://10.0.0.2:5432",
    };
    expect(load(env).config.server.port).toBe(8000);
    expect(failure({ COGNITION_POSTGRES_PORT: "5432" }).message).toContain("COGNITION_POSTGRES_PORT");
  });
});

describe("in a file", () => {
  test("variables are expanded, and become what the key wants", () => {
    write(
      "project",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax under test
      'server: {host: "${HOST}", port: "${NO_PORT:-9000}"}\nscoping: {enabled: "${ON:-true}"}\npersistence: {uri: "sqlite:${A}-$${A}.db"}\n',
    );
    const { config } = load({ HOST: "there", A: "1", ON: "" });
    expect(config.server).toMatchObject({ host: "there", port: 9000 });
    expect(config.scoping.enabled).toBe(true);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax under test
    expect(config.persistence.uri).toBe("sqlite:1-${A}.db");
  });

  test.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax under test
    ["a variable that is not set", 'log:\n  level: "${LEVEL}"\n', 2, "the variable LEVEL is not set"],
    ["an unfinished one", 'log:\n  level: "${LEVEL"\n', 2, '"${LEVEL" is no variable'],
    ["an unknown section", "log: {}\nserve:\n  port: 1\n", 2, "unknown key serve; valid are server, workspace,"],
    [
      "an unknown key",
      "server:\n  prot: 1\n",
      2,
      "unknown key server.prot; valid are host, port, hosts, trusted_proxies, body_limit, header_limit, page. Did you mean port?",
    ],
    [
      "a path as one key",
      "server.port: 1\n",
      1,
      "unknown key server.port: each dot is a level, so write server: { port: … }",
    ],
    [
      "one below a section",
      "auth:\n  jwt.secret: a\n",
      2,
      "auth.jwt.secret: each dot is a level, so write jwt: { secret: … }",
    ],
    ["a path that there is not", "server.prot: 1\n", 1, "unknown key server.prot; valid are server,"],
    ["a value of another type", 'server:\n  port: "8000"\n', 2, "server.port must be a whole number from 0 to 65535"],
    ["a value out of range", "server:\n\n  port: 70000\n", 3, "server.port must be a whole number from 0 to 65535"],
    ["an unknown choice", "sandbox:\n  backend: jail\n", 2, "must be one of local, bubblewrap, docker"],
    ["a fault inside a list", "models:\n  providers:\n    - id: a\n      provider: b\n      modle: c\n", 5, "modle"],
    ["text that is not YAML", "server: [\n", 2, ""],
    ["a list where a mapping belongs", "- a\n", 1, "must be a mapping"],
    ["a key that is there twice", "log: {}\nlog: {}\n", 2, "unique"],
  ])("%s stops with file and line", (_, yaml, line, message) => {
    const file = write("project", yaml);
    const error = failure();
    expect(["unknown_config_key", "invalid_config"]).toContain(error.code);
    expect(error.message).toContain(`${file}:${line}: `);
    expect(error.message).toContain(message);
  });

  test("a fault stops even where a later layer goes over it", () => {
    write("home", "server: {port: none}\n");
    expect(failure({ COGNITION_PORT: "1" }).message).toContain("home/.cognition/config.yaml:1: server.port");
  });

  test("every fault is named, not only the first", () => {
    write("project", "server: {port: none, hots: a}\nlog: {level: loud}\n");
    expect(failure().message.split("\n")).toHaveLength(4);
  });
});

test.each([
  ["a.b", "a"],
  ["server.prot", "server.prot"],
  ["server.port.x", "server.port"],
])("an unknown key that a flag sets, %s, names the flag", (path, told) => {
  const { message } = failure({}, { [path]: { flag: `--set ${path}`, text: "1" } });
  expect(message).toContain(`--set ${path}: `);
  expect(message).toContain(told);
});

test("a value in the environment or a flag that is not valid names its place", () => {
  expect(failure({ COGNITION_PORT: "http" }).message).toContain("COGNITION_PORT: server.port must be a whole number");
  expect(failure({}, { "server.port": { flag: "--port", text: "-1" } }).message).toContain(
    "--port: server.port must be",
  );
});

test("a word in a section's place, and a list that lost its quotes, are told in words", () => {
  write("project", "sandbox: local\n");
  expect(failure().message).toMatch(
    /config\.yaml:1: sandbox must be a mapping of keys to values; its keys are backend, /,
  );
  write("project", "");
  const lost = failure({ COGNITION_WORKSPACE_SNAPSHOT_EXCLUDE: "[node_modules,.venv]" });
  expect(lost.message).toContain("COGNITION_WORKSPACE_SNAPSHOT_EXCLUDE: workspace.snapshot_exclude must be a list");
});

test("text that begins like JSON and is none is told as that, and not what is in it", () => {
  const broken = failure({ COGNITION_MODELS_PROVIDERS: '[{"id":"x","secret":"hunter2"' });
  expect(broken.message).toContain("COGNITION_MODELS_PROVIDERS: models.providers is not valid JSON");
  expect(broken.message).not.toContain("hunter2");
  const hosts = failure({ COGNITION_MODELS_KEY_HOSTS: '{"A":["a"]' });
  expect(hosts.message).toContain("COGNITION_MODELS_KEY_HOSTS: models.key_hosts is not valid JSON");
});

test("what refers to itself is refused, with its line", () => {
  write("project", "log: {level: info}\nserver: &a\n  host: *a\n");
  expect(failure().message).toMatch(/config\.yaml:3: server\.host refers to itself/);
});

test("what two keys must agree on is checked on the whole", () => {
  write("project", "tools:\n  search: {provider: searxng}\n");
  expect(failure().message).toContain("tools.search.provider is searxng, which needs tools.search.url");
  expect(load({ COGNITION_TOOLS_SEARCH_URL: "http://127.0.0.1:1" }).config.tools.search.provider).toBe("searxng");
  expect(failure({ COGNITION_PERSISTENCE_POOL_MIN: "20" }).message).toContain("persistence.pool.min is 20");
});
