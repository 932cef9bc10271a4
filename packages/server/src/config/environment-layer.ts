import { AppError } from "@cognition/contract";
import type { Environment } from "../model/key-ring.ts";
import { type Layer, withValue } from "./layer.ts";
import type { ConfigOption } from "./list-options.ts";
import { nearest } from "./nearest.ts";

/** What Kubernetes injects for a service whose name begins with "cognition". */
const INJECTED = [
  /^COGNITION(_[A-Z0-9_]+)?_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$/,
  /^COGNITION(_[A-Z0-9_]+)?_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/,
];
const INJECTED_PORT = /^COGNITION(_[A-Z0-9_]+)?_PORT$/;

/** The variables that are set. An empty one is as good as not set: compose files and CI leave such behind. */
export function environmentLayer(env: Environment, options: readonly ConfigOption[]): Layer {
  refuseUnknown(env, options);
  const variables = new Map<string, string>();
  let value: unknown = {};
  for (const option of options) {
    const found = findVariable(env, option);
    if (!found) continue;
    variables.set(option.path, found.name);
    value = withValue(value, option.path.split("."), found.text);
  }
  return {
    value: value as Record<string, unknown>,
    isText: (path) => variables.has(path.join(".")),
    originOf: (path) => ({ from: "environment", variable: variableOf(variables, path) }),
  };
}

function findVariable(env: Environment, option: ConfigOption): { name: string; text: string } | undefined {
  const set = [option.env, ...(option.aliases ?? [])].flatMap((name) => {
    const text = env[name];
    return text === undefined || text === "" || isInjected(name, text) ? [] : [{ name, text }];
  });
  const [first, ...others] = set;
  const other = others.find(({ text }) => text !== first?.text);
  if (first && other) {
    throw new AppError(
      "invalid_config",
      `${first.name} is "${first.text}" and ${other.name} is "${other.text}", but both set ${option.path}; unset one of them.`,
    );
  }
  return first;
}

function variableOf(variables: ReadonlyMap<string, string>, path: readonly PropertyKey[]): string {
  for (let length = path.length; length > 0; length--) {
    const name = variables.get(path.slice(0, length).join("."));
    if (name) return name;
  }
  return "the environment";
}

function isInjected(name: string, text: string): boolean {
  if (INJECTED.some((pattern) => pattern.test(name))) return true;
  return INJECTED_PORT.test(name) && /^(tcp|udp|sctp):\/\//.test(text);
}

function refuseUnknown(env: Environment, options: readonly ConfigOption[]): void {
  const valid = options.map((option) => option.env);
  const unknown = Object.entries(env)
    .filter(([name, text]) => /^COGNITION_/.test(name) && text !== undefined && !isInjected(name, text))
    .map(([name]) => name)
    .filter((name) => !valid.includes(name))
    .sort();
  if (unknown.length === 0) return;
  const lines = unknown.map((name) => `${name}: no such variable. The nearest are ${nearest(name, valid).join(", ")}.`);
  throw new AppError(
    "unknown_config_key",
    `${lines.join("\n")}\nNothing was started. Correct the name or unset it; \`cognition config\` lists all there are.`,
    { details: { unknown, valid } },
  );
}
