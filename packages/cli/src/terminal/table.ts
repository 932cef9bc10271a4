/** Columns as wide as what is in them; the last one runs free. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
