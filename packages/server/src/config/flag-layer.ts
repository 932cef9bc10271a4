import { type Layer, withValue } from "./layer.ts";

/** By path of the key: the flag as the user wrote it, and its text. */
export type Flags = Readonly<Record<string, { readonly flag: string; readonly text: string }>>;

export function flagLayer(flags: Flags): Layer {
  let value: unknown = {};
  for (const [path, { text }] of Object.entries(flags)) value = withValue(value, path.split("."), text);
  return {
    value: value as Record<string, unknown>,
    isText: (path) => Object.hasOwn(flags, path.join(".")),
    originOf: (path) => ({ from: "flag", flag: flagOf(flags, path) }),
  };
}

/** The one that set this value, or a larger or smaller part of it: of an unknown key the first part alone is told. */
function flagOf(flags: Flags, path: readonly PropertyKey[]): string {
  const key = path.join(".");
  const isPart = (whole: string, part: string) => part === whole || part.startsWith(`${whole}.`);
  const found = Object.keys(flags).find((each) => isPart(each, key) || isPart(key, each));
  return (found !== undefined && flags[found]?.flag) || "a flag";
}
