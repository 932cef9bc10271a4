import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { AppError, MAX_TEXT_LENGTH, type Skill } from "@cognition/contract";
import { z } from "zod";
import { whenChanged } from "../definition/when-changed.ts";
import { createFileSet, type LoadedFiles, type SourceFile } from "../file/file-set.ts";
import { findInEach } from "../file/find-files.ts";
import { findInside } from "../file/path-inside.ts";
import type { Problem } from "../file/problem.ts";
import { splitFrontMatter } from "./front-matter.ts";
import { parseSource, parseYaml, yamlError } from "./yaml-source.ts";

const FILE = "SKILL.md";
/** A folder may hold a whole tree of examples; a model needs no more names than this. */
const MAX_LISTED = 100;

// Skills are shared between products, which add keys of their own: those are left to them.
const SkillHead = z.looseObject({
  name: z
    .string({ error: "name is required" })
    .regex(/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/, { error: "must be lower case letters, digits and -, at most 64" }),
  description: z
    .string({ error: "description is required: it tells an agent when to use the skill" })
    .trim()
    .min(1, { error: "must not be empty: it tells an agent when to use the skill" })
    .max(MAX_TEXT_LENGTH),
  "allowed-tools": z.union([z.string(), z.array(z.string())], { error: "must be a list of tool names" }).optional(),
});

export interface KnownSkills {
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
}

export interface SkillFiles {
  /**
   * What an agent is told of each skill at first: name, description and where the rest is. The same object as before, if
   * nothing has changed.
   */
  refresh(): Promise<KnownSkills>;
  /** A file of a skill's folder; SKILL.md by default. Throws `file_not_found`, also for what lies outside. */
  read(name: string, file?: string): Promise<Uint8Array>;
  /** The files of a skill's folder, relative to it, by name. */
  list(name: string): Promise<string[]>;
}

/** Skills of the workspace: `.cognition/skills/<name>/SKILL.md`, with whatever files stand beside it. */
export function createSkillFiles({ root }: { root: string }): SkillFiles {
  const folder = join(root, ".cognition", "skills");
  const find = (at: string) => findInEach(at, FILE);
  const files = createFileSet({ root, folder, find, parse: parseSkill });

  const toSkills = whenChanged((loaded: LoadedFiles<Skill>) => ({
    skills: loaded.files.flatMap(({ value }) => value ?? []),
    problems: loaded.problems,
  }));

  async function folderOf(name: string): Promise<string | undefined> {
    return dirname(join(folder, name)) === folder ? findInside(folder, name) : undefined;
  }

  return {
    refresh: async () => toSkills(await files.refresh()),
    async list(name) {
      const own = await folderOf(name);
      if (own === undefined) return [];
      const entries = await readdir(own, { recursive: true, withFileTypes: true });
      const found = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
      return found
        .map((path) => relative(own, path))
        .sort()
        .slice(0, MAX_LISTED);
    },
    async read(name, file = FILE) {
      const own = await folderOf(name);
      const path = own && (await findInside(own, file));
      if (path === undefined) throw new AppError("file_not_found", `skill ${name} has no file ${file}`);
      return readFile(path);
    },
  };
}

function parseSkill(file: SourceFile): Skill {
  const { yaml, body } = splitFrontMatter(file.text, file.label);
  const source = parseYaml(yaml, file.label, 2);
  const head = parseSource(SkillHead, source, Object.keys(SkillHead.shape));
  const name = basename(dirname(file.path));
  if (head.name !== name) {
    throw yamlError(
      file.label,
      source.lineOf(["name"]),
      `the name "${head.name}" must be that of its folder, "${name}"`,
    );
  }
  if (body === "") throw yamlError(file.label, 1, "says nothing: write the instructions below the front matter");
  const tools = head["allowed-tools"] ?? [];
  const allowed_tools = typeof tools === "string" ? tools.split(/[\s,]+/).filter(Boolean) : tools;
  return { name, description: head.description, path: file.label, allowed_tools };
}
