import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LoadPage, PageFile } from "@cognition/server";

/** From the sources, modules are the TypeScript without its types; else what the build made of them. */
const EXTENSION = extname(import.meta.filename);
const ASSETS = join(import.meta.dirname, "../page");
/** What the page is made of, each in one folder. */
const PARTS: Readonly<Record<string, string>> = {
  app: EXTENSION === ".ts" ? ASSETS : join(import.meta.dirname, "page"),
  client: dirname(fileURLToPath(import.meta.resolve("@cognition/client"))),
  contract: dirname(fileURLToPath(import.meta.resolve("@cognition/contract/app-error"))),
};
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".js": "text/javascript",
};
const IMPORT = /\b(from|import) "([.@][^"]+)"/g;

/** The chat page: the modules that it imports, one by one, with the client's among them. */
export const loadPage: LoadPage = async () => {
  const assets = ["page.css", "icon.svg"].map(async (name) => [`/page/${name}`, await readAsset(name)] as const);
  return new Map([["/", await readAsset("index.html")], ...(await Promise.all(assets)), ...(await readModules())]);
};

async function readAsset(name: string): Promise<PageFile> {
  return fileOf(extname(name), await readFile(join(ASSETS, name), "utf8"));
}

/** From the first one on, each that another imports. A browser finds them at `/page/<part>/<name>.js`. */
async function readModules(): Promise<Map<string, PageFile>> {
  const found = new Map<string, PageFile>();
  const wanted = new Set(["app/main"]);
  for (const name of wanted) {
    const code = await readModule(name);
    const text = code.replaceAll(IMPORT, (_, keyword, specifier) => {
      const target = resolve(name, specifier);
      wanted.add(target); // a set is walked to what was added meanwhile, too
      return `${keyword} "../${target}.js"`;
    });
    found.set(`/page/${name}.js`, fileOf(".js", text));
  }
  return found;
}

async function readModule(name: string): Promise<string> {
  const code = await readFile(join(PARTS[dirname(name)] ?? "", `${basename(name)}${EXTENSION}`), "utf8");
  return EXTENSION === ".ts" ? stripTypeScriptTypes(code) : code;
}

/** `./follow.ts` of `client/streams` is `client/follow`; another package's module is found by the name that it exports. */
function resolve(from: string, specifier: string): string {
  if (specifier.startsWith("./")) return join(dirname(from), basename(specifier, extname(specifier)));
  const [, part = "", name = "index"] = specifier.split("/");
  if (specifier.startsWith("@cognition/") && part in PARTS && part !== "app") return `${part}/${name}`;
  throw new Error(`${from} imports ${specifier}, which is not for a browser`);
}

function fileOf(extension: string, text: string): PageFile {
  return { content_type: `${TYPES[extension]}; charset=utf-8`, text };
}
