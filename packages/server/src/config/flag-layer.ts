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

function flagOf(flags: Flags, path: readonly PropertyKey[]): string {
  for (let length = path.length; length > 0; length--) {
    const found = flags[path.slice(0, length).join(".")];
    if (found) return found.flag;
  }
  return "a flag";
}
