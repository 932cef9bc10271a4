import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

export interface BuiltImage {
  /** The last stage's files: what the image has at `/` beyond its base. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where the entry point starts. */
  readonly workdir: string;
  readonly command: readonly string[];
}

export interface BuildOptions {
  readonly dockerfile: string;
  /** What is sent to the build; `left_out` is what `.dockerignore` names. */
  readonly context: string;
  readonly left_out: readonly RegExp[];
  /** Gets a folder for each stage. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Stage {
  root: string;
  workdir: string;
  env: Record<string, string>;
  entrypoint: string[];
  cmd: string[];
}

/** Absolute paths that instructions may name: each stands for one in the stage's folder. */
const OWN_PATHS = /(?<![\w./])\/(app|workspace|usr\/local\/bin)(?![\w-])/g;

/**
 * Follows a Dockerfile's instructions without an engine or a base image: each stage is a folder, its commands run on this
 * machine with their absolute paths moved into it. It proves that what is copied is there and that what is run works, not
 * that the base image has it. Owners are left alone: the image's user is not one of this machine.
 */
export function followDockerfile(options: BuildOptions): BuiltImage {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const line of instructionsOf(options.dockerfile)) {
    const [, word = "", rest = ""] = /^(\w+)\s+(.*)$/s.exec(line) ?? [];
    if (word === "FROM") {
      const root = join(options.folder, `stage-${stages.size}`);
      for (const path of ["usr/local/bin", "tmp"]) mkdirSync(join(root, path), { recursive: true });
      stage = { root, workdir: "/", env: {}, entrypoint: [], cmd: [] };
      stages.set(/ AS (\S+)/i.exec(rest)?.[1] ?? "", stage);
      continue;
    }
    if (!stage) throw new Error(`${word} before FROM`);
    follow(word, rest, stage, stages, options);
  }
  if (!stage) throw new Error("The Dockerfile has no stage");
  const { root, env, workdir, entrypoint, cmd } = stage;
  return { root, env, workdir: join(root, workdir), command: [...entrypoint, ...cmd] };
}

/** One text for each, with lines that go on joined and comments gone. */
function instructionsOf(file: string): string[] {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(#|$)/.test(line));
  return lines
    .join("\n")
    .replace(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.trim());
}

function follow(
  word: string,
  rest: string,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
  options: BuildOptions,
): void {
  if (word === "WORKDIR") {
    stage.workdir = rest;
    mkdirSync(join(stage.root, rest), { recursive: true });
  } else if (word === "ENV") {
    for (const [, name = "", value = ""] of rest.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value;
  } else if (word === "COPY") copy(rest, stage, stages, options);
  else if (word === "RUN") run(rest, stage, options);
  else if (word === "ENTRYPOINT") stage.entrypoint = JSON.parse(rest);
  else if (word === "CMD") stage.cmd = JSON.parse(rest);
  else if (!["USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"].includes(word)) {
    throw new Error(`An instruction that this can't follow: ${word}`);
  }
}

function copy(rest: string, stage: Stage, stages: ReadonlyMap<string, Stage>, options: BuildOptions): void {
  const [, , from, list = ""] = /^(--from=(\S+) )?(.*)$/.exec(rest) ?? [];
  const source = from === undefined ? undefined : stages.get(from);
  if (from !== undefined && !source) throw new Error(`There is no stage ${from}`);
  const names = list.split(" ");
  const target = names.pop() ?? "";
  for (const name of names) {
    const path = join(source?.root ?? options.context, name);
    const into = target.endsWith("/") && !statSync(path).isDirectory() ? join(target, basename(name)) : target;
    const filter = (file: string) => {
      return (
        source !== undefined || !options.left_out.some((left) => left.test(file.slice(options.context.length + 1)))
      );
    };
    cpSync(path, join(stage.root, stage.workdir, into), { recursive: true, verbatimSymlinks: true, filter });
  }
}

function run(command: string, { root, workdir, env }: Stage, options: BuildOptions): void {
  const moved = command.replace(OWN_PATHS, (path) => join(root, path)).replace(/&& chown \S+ \S+/g, "");
  const { status, stdout, stderr } = spawnSync("sh", ["-e", "-c", moved], {
    cwd: join(root, workdir),
    env: { ...options.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`RUN ${command} failed:\n${stdout}${stderr}`);
}
