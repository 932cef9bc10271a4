import { AppError } from "@cognition/contract/app-error";

/** The path with its places filled. A file's `{path}` keeps its slashes; nothing else may change the route. */
export function fillPath(template: string, values: readonly unknown[]): string {
  let next = 0;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[next++];
    if (typeof value !== "string" || value === "") throw invalid(name, "must be a text that is not empty");
    if (!value.isWellFormed()) throw invalid(name, "must not contain unpaired surrogates");
    const parts = name === "path" ? value.split("/") : [value];
    // Every URL parser takes such a part for a step up, however it is encoded.
    if (parts.some((part) => part === "." || part === "..")) throw invalid(name, "must not have . or .. as a part");
    return parts.map(encodeURIComponent).join("/");
  });
}

function invalid(name: string, problem: string): AppError {
  return new AppError("validation_failed", `${name} ${problem}`, {
    details: { errors: [{ loc: ["path", name], msg: problem }] },
  });
}
