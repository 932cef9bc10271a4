/** Whether it is an error of the system with one of these codes, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
