import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every path below the folder with its kind, mode and bytes: equal for equal folders, whoever wrote them. */
export function contentsOf(folder: string, ignored: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: Buffer, prefix: string) => {
    for (const name of readdirSync(path, { encoding: "buffer" })) {
      const at = Buffer.concat([path, Buffer.from("/"), name]);
      const key = `${prefix}${name.toString("latin1")}`;
      if (ignored.includes(key)) continue;
      const stats = lstatSync(at);
      const mode = (stats.mode & 0o777).toString(8);
      if (stats.isDirectory()) {
        found[`${key}/`] = mode;
        walk(at, `${key}/`);
      } else if (stats.isSymbolicLink()) found[key] = `-> ${readlinkSync(at)}`;
      else found[key] = `${mode} ${readFileSync(at).toString("base64")}`;
    }
  };
  walk(Buffer.from(join(folder)), "");
  return found;
}
