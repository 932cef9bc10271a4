import { AppError, MAX_JSON_DEPTH, utf8Length } from "@cognition/contract";

/**
 * The value as JSON text, only if reading it gives an equal value again. What JSON would alter or leave out without a
 * word (a Date, a BigInt, NaN, undefined, an instance of a class) is refused with `unserializable_value`.
 */
export function encodeValue(value: unknown, maxBytes: number): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw unserializable("value", `is ${describe(value)}, and must be an object`);
  }
  checkSerializable(value, "value");
  const text = JSON.stringify(value);
  const size = utf8Length(text);
  if (size > maxBytes) {
    throw new AppError(
      "content_too_large",
      `The value takes ${size} bytes as JSON, the limit is ${maxBytes}. Nothing was stored; split it over several keys, or keep it as an artifact.`,
      { details: { limit: "store_value", max: maxBytes, size } },
    );
  }
  return text;
}

export function checkSerializable(value: unknown, path: string): void {
  refuseUnserializable(value, path, []);
}

function refuseUnserializable(value: unknown, path: string, ancestors: object[]): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (typeof value !== "object") throw unserializable(path, `is ${describe(value)}, which JSON can't hold`);
  if (ancestors.includes(value)) throw unserializable(path, "contains itself");
  if (ancestors.length >= MAX_JSON_DEPTH) throw unserializable(path, `is nested deeper than ${MAX_JSON_DEPTH} levels`);
  ancestors.push(value);
  if (Array.isArray(value)) {
    // By index, not `forEach`: a hole is undefined too.
    for (let i = 0; i < value.length; i++) refuseUnserializable(value[i], `${path}[${i}]`, ancestors);
  } else {
    refuseInstance(value, path);
    for (const [key, member] of Object.entries(value)) refuseUnserializable(member, memberPath(path, key), ancestors);
  }
  ancestors.pop();
}

function refuseInstance(value: object, path: string): void {
  const prototype = Object.getPrototypeOf(value);
  // A plain object of another realm has another Object.prototype, which also has nothing above it.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!plain) throw unserializable(path, `is ${describe(value)}, which would not come back from JSON as one`);
  if (Object.getOwnPropertySymbols(value).length > 0) throw unserializable(path, "has a symbol as key");
}

function memberPath(path: string, key: string): string {
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number") return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return `a ${value.constructor?.name || "nameless class"}`;
  return `a ${typeof value}`;
}

function unserializable(path: string, problem: string): AppError {
  return new AppError("unserializable_value", `${path} ${problem}. Nothing was done; convert it first.`, {
    details: { path },
  });
}
