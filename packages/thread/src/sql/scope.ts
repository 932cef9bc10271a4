import { AppError, type Scope } from "@cognition/contract";

/** For reads that may name a scope: undefined where none is named, and all is to be seen. */
export function scopeTextOf(scope: Scope | undefined): string | undefined {
  return scope === undefined ? undefined : scopeText(scope);
}

/** Scopes as one comparable text: the same keys and values give the same text, whatever their order was. */
export function scopeText(scopes: Scope = {}): string {
  return JSON.stringify(Object.fromEntries(scopeEntries(scopes).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Each key has a value: JSON leaves out one that is undefined, and `{ user: undefined }` would be everybody's scope. */
export function scopeEntries(scopes: Scope): [string, string][] {
  const given: unknown = scopes;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new AppError(
      "validation_failed",
      "A scope must be an object of texts by their keys; to name none, leave it out",
    );
  }
  const entries = Object.entries<unknown>(given as Record<string, unknown>);
  for (const [key, value] of entries) {
    if (typeof value !== "string" || value === "")
      throw new AppError("validation_failed", `The scope's ${key} must be a text that is not empty`);
  }
  return entries as [string, string][];
}
