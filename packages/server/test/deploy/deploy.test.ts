import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES } from "@cognition/contract";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { listOptions } from "../../src/config/list-options.ts";
import { loadConfig } from "../../src/config.ts";

const root = join(import.meta.dirname, "../../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const variables = new Set(listOptions().map(({ env }) => env));
const unknown = (names: readonly string[]) => names.filter((name) => /^COGNITION_/.test(name) && !variables.has(name));
const load = (env: Record<string, string>) => loadConfig({ env, cwd: "/" }).config;

describe("the Dockerfile", () => {
  const text = read("Dockerfile");
  const environment = Object.fromEntries(
    [...text.matchAll(/(?:ENV | {4})(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const stages = text.split(/^FROM /m).slice(1);

  test("copies only what is there and not left out", () => {
    const sources = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = ""]) => list.split(" "));
    expect(sources).toContain("packages");
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
    const left = read(".dockerignore").split("\n");
    expect(sources.filter((source) => left.includes(source))).toEqual([]);
  });

  test("builds with a script that there is, and starts the command of the packages", () => {
    const { scripts } = JSON.parse(read("package.json"));
    const used = [...text.matchAll(/npm run (\S+)/g)].map(([, name = ""]) => name);
    expect(used.filter((name) => !scripts[name])).toEqual([]);
    expect(scripts.build).toContain("testing/remove-builds.ts");
    const { bin } = JSON.parse(read("packages/cli/package.json"));
    expect(text).toContain(`/app/packages/cli/${bin.cognition.replace("./", "")}`);
  });

  test("compiles with the compiler's own program for the platform, which is an optional dependency", () => {
    const { optionalDependencies } = JSON.parse(read("node_modules/typescript/package.json"));
    expect(Object.keys(optionalDependencies)).toContain("@typescript/typescript-linux-x64");
    const [installs = ""] = (stages[0] ?? "").match(/^RUN npm ci.*$/m) ?? [];
    expect(installs).not.toMatch(/--omit=(optional|dev)/);
  });

  test("runs as a user who is not root, from an image without compilers", () => {
    const last = stages.at(-1) ?? "";
    expect(last).toMatch(/^USER node$/m);
    expect(last.indexOf("USER node")).toBeLessThan(last.indexOf("ENTRYPOINT"));
    expect(last).not.toContain("npm ");
  });

  test("sets variables that the server knows, and probes routes that it has", () => {
    expect(unknown(Object.keys(environment))).toEqual([]);
    expect(load(environment as Record<string, string>).server).toMatchObject({ host: "0.0.0.0", port: 8000 });
    expect(text).toContain(`http://127.0.0.1:8000${ROUTES.getReadiness.path}`);
  });
});

describe("compose.yaml", () => {
  const { services, volumes } = parse(read("compose.yaml"));

  test("sets variables that the server knows, with values that it takes", () => {
    const { environment } = services.server;
    expect(unknown(Object.keys(environment))).toEqual([]);
    const config = load(environment);
    expect(config.auth.mode).toBe("api_key");
    expect(config.persistence.uri).toMatch(/^postgresql:\/\/cognition:.*@postgres:5432\/cognition$/);
  });

  test("waits for a database that it has, on volumes that it has", () => {
    for (const name of Object.keys(services.server.depends_on)) expect(services[name].healthcheck).toBeDefined();
    const used = Object.values<{ volumes?: string[] }>(services).flatMap((service) => service.volumes ?? []);
    expect(used.map((volume) => volume.split(":")[0]).sort()).toEqual(Object.keys(volumes).sort());
  });

  // Node collects only its own children: what a command of an agent leaves behind would stay defunct for ever.
  test("has a first process that collects what is left behind", () => {
    expect(services.server.init).toBe(true);
  });

  test("is reached from this machine only, and the image is the one of this repository", () => {
    expect(services.server.ports).toEqual(["127.0.0.1:8000:8000"]);
    expect(services.server.build).toBe(".");
  });
});

describe("deploy/nodes", () => {
  const { services, volumes } = parse(read("deploy/nodes/compose.yaml"), { merge: true });
  const nginx = read("deploy/nodes/nginx.conf");
  const nodes = Object.keys(services).filter((name) => name.startsWith("node-"));

  test("three nodes with variables that the server knows, each with a workspace of its own", () => {
    expect(nodes).toEqual(["node-1", "node-2", "node-3"]);
    for (const name of nodes) {
      expect(unknown(Object.keys(services[name].environment))).toEqual([]);
      expect(services[name].init).toBe(true);
      expect(load(services[name].environment).persistence.uri).toMatch(/@postgres:5432\/cognition$/);
      expect(parseInt(services[name].stop_grace_period, 10) * 1000).toBeGreaterThan(load({}).runs.drain_ms * 2);
    }
    const used = Object.values<{ volumes?: string[] }>(services).flatMap((service) => service.volumes ?? []);
    const named = used.map((volume) => volume.split(":")[0] ?? "").filter((name) => !name.startsWith("."));
    expect(named.sort()).toEqual(Object.keys(volumes).sort());
  });

  test("nginx knows each node, holds nothing back, and waits longer than the server is ever silent", () => {
    expect([...nginx.matchAll(/server (node-\d):8000/g)].map(([, name]) => name)).toEqual(nodes);
    expect(nginx).toMatch(/proxy_buffering off;/);
    expect(nginx).toMatch(/proxy_read_timeout 1h;/);
    expect(load({}).sse.heartbeat_interval).toBeLessThan(3600);
    // A POST that a node may have seen must not be sent to another by the proxy.
    expect(nginx).not.toContain("non_idempotent");
    expect(services.nginx.ports).toEqual(["127.0.0.1:8000:8000"]);
    expect(nginx).toMatch(/listen 8000;/);
  });
});

describe("deploy/kubernetes.yaml", () => {
  const documents = parseAllDocuments(read("deploy/kubernetes.yaml")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
  const find = (kind: string) => documents.find((document) => document.kind === kind);
  const { spec } = find("Deployment").spec.template;
  const [container] = spec.containers;

  test("sets variables that the server knows, with values that it takes", () => {
    const { data } = find("ConfigMap");
    const named = read("deploy/kubernetes.yaml").match(/COGNITION_[A-Z_]+(?==)/g) ?? [];
    expect(unknown([...Object.keys(data), ...named.filter((name) => name !== "COGNITION_PORT")])).toEqual([]);
    expect(load(data).auth.mode).toBe("api_key");
  });

  test("answers to the name of its service", () => {
    expect(load(find("ConfigMap").data).server.hosts).toContain(find("Service").metadata.name);
  });

  test("is told of no service by variables, and is given time to hand over its runs", () => {
    expect(spec.enableServiceLinks).toBe(false);
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(load({}).runs.drain_ms * 2);
  });

  test("has a first process that collects what is left behind", () => {
    expect(spec.shareProcessNamespace).toBe(true);
  });

  test("probes routes that the server has: readiness must not restart a node that drains", () => {
    expect(container.livenessProbe.httpGet.path).toBe(ROUTES.getHealth.path);
    expect(container.readinessProbe.httpGet.path).toBe(ROUTES.getReadiness.path);
    expect(container.startupProbe.httpGet.path).toBe(ROUTES.getReadiness.path);
    const names = container.ports.map(({ name }: { name: string }) => name);
    for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
      expect(names).toContain(container[probe].httpGet.port);
    }
  });

  test("runs without rights, and every mount has its volume", () => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
    const volumes = spec.volumes.map(({ name }: { name: string }) => name);
    expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes);
  });

  test("the service and the budget select the deployment's pods", () => {
    const { labels } = find("Deployment").spec.template.metadata;
    expect(find("Service").spec.selector).toEqual(labels);
    expect(find("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
    expect(find("Deployment").spec.selector.matchLabels).toEqual(labels);
  });
});
