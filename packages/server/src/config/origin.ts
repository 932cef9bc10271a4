/** Where a value comes from. */
export type Origin =
  | { readonly from: "default" }
  | { readonly from: "file"; readonly file: string; readonly line: number }
  | { readonly from: "environment"; readonly variable: string }
  | { readonly from: "flag"; readonly flag: string };

export function describeOrigin(origin: Origin): string {
  switch (origin.from) {
    case "default":
      return "default";
    case "file":
      return `${origin.file}:${origin.line}`;
    case "environment":
      return origin.variable;
    case "flag":
      return origin.flag;
  }
}
