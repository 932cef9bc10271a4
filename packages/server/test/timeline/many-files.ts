import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** So many files of about two kilobytes, a hundred to a folder, and their paths. */
export function makeManyFiles(root: string, count: number): string[] {
  const paths: string[] = [];
  const old = new Date(Date.now() - 60_000);
  for (let i = 0; i < count; i++) {
    const folder = join(root, `module-${Math.floor(i / 100)}`);
    if (i % 100 === 0) mkdirSync(folder, { recursive: true });
    const path = join(folder, `file-${i}.ts`);
    writeFileSync(path, contentOf(i));
    utimesSync(path, old, old);
    paths.push(path);
  }
  return paths;
}

/** Words that don't repeat much: it compresses about as source does. */
export function contentOf(seed: number): string {
  let state = seed + 1;
  const words: string[] = [];
  for (let i = 0; i < 300; i++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    words.push(state.toString(36));
  }
  return `${words.join(" ")}\n`;
}
