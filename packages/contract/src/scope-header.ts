// Without zod, for the client.

export function scopeHeader(key: string): string {
  const words = key.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `X-Cognition-Scope-${words.join("-")}`;
}
