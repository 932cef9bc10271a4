import { type Program, parseSync } from "oxc-parser";

type ImportKind = "import" | "import type" | "re-export" | "import()" | "import() type" | "require" | "resolve";

interface ImportReference {
  readonly kind: ImportKind;
  /** What is imported, or undefined where it is computed and so cannot be known from the text. */
  readonly specifier: string | undefined;
  readonly line: number;
}

export interface ParsedModule {
  readonly imports: readonly ImportReference[];
  /** Whether the file only passes on what other files export, or passes on all of another file. */
  readonly isBarrel: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** Functions that load a module by name: `require`, `require.resolve`, `import.meta.resolve`, `getBuiltinModule`. */
const LOADERS: Record<string, ImportKind> = { require: "require", resolve: "resolve", getBuiltinModule: "require" };

/** Reads a TypeScript source; throws when it cannot be parsed, since an unread file would count as a clean one. */
export function parseModule(file: string, source: string): ParsedModule {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const imports: ImportReference[] = [];
  visit(program, (node) => {
    const found = referenceOf(node);
    if (found) imports.push({ ...found, line: source.slice(0, node.start).split("\n").length });
  });
  return { imports, isBarrel: isBarrel(program) };
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, onNode);
  } else if (isNode(value)) {
    onNode(value);
    for (const child of Object.values(value)) visit(child, onNode);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function referenceOf(node: Node): Pick<ImportReference, "kind" | "specifier"> | undefined {
  switch (node.type) {
    case "ImportDeclaration":
      return { kind: node["importKind"] === "type" ? "import type" : "import", specifier: textOf(node["source"]) };
    case "ExportAllDeclaration":
    case "ExportNamedDeclaration":
      return node["source"] ? { kind: "re-export", specifier: textOf(node["source"]) } : undefined;
    case "ImportExpression":
      return { kind: "import()", specifier: textOf(node["source"]) };
    case "TSImportType":
      return { kind: "import() type", specifier: textOf(node["source"]) };
    case "TSExternalModuleReference":
      return { kind: "require", specifier: textOf(node["expression"]) };
    case "CallExpression":
      return loaderCall(node);
    default:
      return undefined;
  }
}

function loaderCall(node: Node): Pick<ImportReference, "kind" | "specifier"> | undefined {
  const kind = LOADERS[loaderName(node["callee"]) ?? ""];
  const [argument] = node["arguments"] as unknown[];
  return kind && { kind, specifier: textOf(argument) };
}

/** `createRequire(x)(…)` counts as `require`; of methods named resolve only those of `require` and `import.meta` do. */
function loaderName(callee: unknown): string | undefined {
  if (!isNode(callee)) return undefined;
  if (callee.type === "Identifier") return callee["name"] === "require" ? "require" : undefined;
  if (callee.type === "CallExpression") return nameOf(callee["callee"]) === "createRequire" ? "require" : undefined;
  if (callee.type !== "MemberExpression") return undefined;
  const [object, method] = [callee["object"], nameOf(callee["property"])];
  if (method === "getBuiltinModule") return method;
  const fromLoader = nameOf(object) === "require" || (isNode(object) && object.type === "MetaProperty");
  return method === "resolve" && fromLoader ? method : undefined;
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node["name"] === "string" ? node["name"] : undefined;
}

function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  const quasis = node["quasis"] as { value: { cooked: string } }[];
  return quasis.length === 1 ? quasis[0]?.value.cooked : undefined;
}

function isBarrel({ body }: Program): boolean {
  if (body.some((statement) => statement.type === "ExportAllDeclaration")) return true;
  const exports = body.filter((statement) => statement.type === "ExportNamedDeclaration" && !statement.declaration);
  const imports = body.filter((statement) => statement.type === "ImportDeclaration");
  return exports.length > 0 && exports.length + imports.length === body.length;
}
