import { isBuiltin } from "node:module";
import { posix } from "node:path";
import type { ParsedModule } from "./read-imports.ts";

/** Which packages of this repository each package may import; one that is not listed here may not exist. */
const PACKAGES: Record<string, readonly string[]> = {
  contract: [],
  thread: ["contract"],
  client: ["contract"],
  server: ["contract", "thread"],
  console: ["client"],
  cli: ["contract", "thread", "server", "client"],
  "cli/page": ["contract", "client"],
};

/** What also runs in browsers: every other import is listed here too. */
const EXTERNALS: Record<string, readonly string[]> = { contract: ["zod"], client: [], "cli/page": [] };

/** Dependencies that belong behind a port: the only folders that may import them. */
const CONFINED: readonly { readonly names: RegExp; readonly folders: readonly string[] }[] = [
  { names: /^(pg|pg-.+|node:sqlite|better-sqlite3)$/, folders: ["thread/src/sql/"] },
  {
    names: /^(@langchain\/(?!core$|openai$|anthropic$|google-genai$|aws$|ollama$).+|langchain|langsmith|deepagents)$/,
    folders: ["thread/src/checkpoint/", "thread/src/conformance/", "server/src/runtime/"],
  },
  // A chat model is a class of LangChain's core, so the models are written on it, and on it alone of that family.
  {
    names: /^@langchain\/core$/,
    folders: ["thread/src/checkpoint/", "thread/src/conformance/", "server/src/runtime/", "server/src/model/"],
  },
  { names: /^@langchain\/(openai|anthropic|google-genai|aws|ollama)$/, folders: ["server/src/model/"] },
  { names: /^(hono|@hono\/.+|node:https?|node:http2)$/, folders: ["server/src/", "cli/src/", "console/src/"] },
  { names: /^(hono|@hono\/.+)$/, folders: ["server/src/http/", "server/src/compose.ts", "server/src/main.ts"] },
  { names: /^dockerode$/, folders: ["server/src/sandbox/"] },
  { names: /^@modelcontextprotocol\/.+$/, folders: ["server/src/tool/"] },
];

/** The only files that may import a module whose name they learn at run time: a user's own. */
const LOADERS: readonly string[] = [
  "packages/server/src/tool/load-tool-module.ts",
  "packages/server/src/file/load-export.ts",
];

/** Parts of the server that only compose.ts joins: nothing else in the server imports them, nor they each other. */
const SERVER_ADAPTERS = ["runtime", "sandbox", "webhook", "http"];
const SERVER_ROOT = ["main.ts", "index.ts", "operator.ts", "compose.ts"];

/** Every entry of a package, second ones too. */
const BARRELS = /^packages\/([^/]+\/src\/(conformance\/)?index|server\/src\/operator)\.ts$/;

/** Where an import leads, by its text alone. */
type Target =
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "workspace"; readonly name: string; readonly subpath: string }
  | { readonly type: "external"; readonly name: string }
  | { readonly type: "unknown" };

/** Says, one sentence each, which imports of the source file `file` (from the repository's root) go a wrong way. */
export function findViolations(file: string, { imports, isBarrel }: ParsedModule): string[] {
  const found = imports.flatMap(({ kind, specifier, line }) => {
    if (specifier === undefined && kind === "import()" && LOADERS.includes(file)) return [];
    const wrong = checkTarget(file, resolveTarget(file, specifier));
    return wrong ? [`${file}:${line} ${kind} "${specifier ?? "…"}": ${wrong}`] : [];
  });
  const named = posix.basename(file) === "index.ts";
  if ((isBarrel || named) && !BARRELS.test(file)) found.push(`${file}: only a package's src/index.ts is a barrel`);
  return found;
}

function resolveTarget(file: string, specifier: string | undefined): Target {
  if (specifier === undefined || /^(\/|#|[a-z]:|file:|data:|https?:)/i.test(specifier)) return { type: "unknown" };
  if (specifier.startsWith(".")) return { type: "file", path: posix.join(posix.dirname(file), specifier) };
  const [scope = "", name = "", ...rest] = specifier.split("/");
  if (scope === "@cognition") return { type: "workspace", name, subpath: rest.join("/") };
  if (isBuiltin(specifier)) return { type: "external", name: `node:${specifier.replace(/^node:/, "")}` };
  return { type: "external", name: scope.startsWith("@") ? `${scope}/${name}` : scope };
}

function checkTarget(file: string, target: Target): string | undefined {
  const owner = ownerOf(file);
  switch (target.type) {
    case "unknown":
      return "the name must be a plain string of a package or a relative file, or no rule can be checked";
    case "file":
      return checkFile(file, owner, target.path);
    case "workspace":
      return checkWorkspace(owner, target.name, target.subpath);
    case "external":
      return checkExternal(file, owner, target.name);
  }
}

/** The package, or the part of it that is for browsers and not for Node. */
function ownerOf(file: string): string {
  const [, name = "", folder] = file.split("/");
  return folder === "page" ? `${name}/page` : name;
}

function checkFile(file: string, owner: string, path: string): string | undefined {
  const source = owner.endsWith("/page") ? `packages/${owner}/` : `packages/${owner}/src/`;
  if (!path.startsWith(source)) return `leaves ${source}: import another package by its name`;
  return owner === "server" ? checkServer(file.slice(source.length), path.slice(source.length)) : undefined;
}

function checkWorkspace(owner: string, name: string, subpath: string): string | undefined {
  const allowed = PACKAGES[owner];
  if (!allowed) return `packages/${owner} has no place in the package order yet: give it one in import-rules.ts`;
  if (!allowed.includes(name)) return `${owner} may import ${allowed.join(", ") || "no package of this repository"}`;
  return /^(src|dist)(\/|$)/.test(subpath) ? "import what the package exports, not its files" : undefined;
}

function checkExternal(file: string, owner: string, name: string): string | undefined {
  const externals = EXTERNALS[owner];
  if (externals && !externals.includes(name)) return `${owner} may import ${externals.join(", ") || "no dependency"}`;
  const broken = CONFINED.find((rule) => rule.names.test(name) && !rule.folders.some((at) => isUnder(file, at)));
  return broken && `${name} may be imported only in ${broken.folders.join(", ")}`;
}

function isUnder(file: string, folder: string): boolean {
  return file.startsWith(`packages/${folder}`);
}

function checkServer(from: string, to: string): string | undefined {
  if (SERVER_ROOT.includes(from)) return undefined;
  if (SERVER_ROOT.includes(to)) return "only main.ts and index.ts import compose.ts, and nothing imports those two";
  const [fromPart, toPart] = [from.split("/")[0] ?? "", to.split("/")[0] ?? ""];
  if (fromPart === toPart || !SERVER_ADAPTERS.includes(toPart)) return undefined;
  // The file named like its folder is the port: the others may know it, not what implements it.
  if (to === `${toPart}/${toPart}.ts`) return undefined;
  return `${toPart}/ is joined in compose.ts; import its port ${toPart}/${toPart}.ts if it has one`;
}
