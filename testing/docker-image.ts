import { spawn, spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createTempDir } from "./temp-dir.ts";

/** Where an engine listens, as node:http wants it. */
export type EngineAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

const CHANGES = ["WORKDIR /workspace", "ENV PATH=/bin"];
const LAYOUT = `set -e
mkdir -p bin etc proc sys dev root
mkdir -m 1777 tmp home workspace
chmod 755 . bin/busybox
for applet in $(bin/busybox --list); do [ "$applet" = busybox ] || ln -s busybox "bin/$applet"; done
printf 'root:x:0:0::/root:/bin/sh\\nagent:x:1000:1000::/home:/bin/sh\\n' > etc/passwd
printf 'root:x:0:\\nagent:x:1000:\\n' > etc/group
printf 'root:*:19000::::::\\n' > etc/shadow
chmod 600 etc/shadow`;

/** Makes an image of 2 MB from a static busybox: no registry can be reached from everywhere. */
export async function importBusybox(address: EngineAddress, busybox: string, image: string): Promise<void> {
  const dir = createTempDir("cognition-image-");
  try {
    spawnSync("mkdir", [join(dir.path, "bin")]);
    copyFileSync(busybox, join(dir.path, "bin", "busybox"));
    const made = spawnSync("sh", ["-c", LAYOUT], { cwd: dir.path, encoding: "utf8" });
    if (made.status !== 0) throw new Error(`The image's folder could not be made: ${made.stderr}`);
    await upload(address, dir.path, image);
  } finally {
    dir.remove();
  }
}

async function upload(address: EngineAddress, folder: string, image: string): Promise<void> {
  const [repo = "", tag = "latest"] = image.split(":");
  const query = new URLSearchParams({ fromSrc: "-", repo, tag });
  for (const change of CHANGES) query.append("changes", change);
  const tar = spawn("tar", ["-C", folder, "--owner=0", "--group=0", "-c", "."], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sent = request({ ...address, method: "POST", path: `/images/create?${query}` }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    response.on("end", () => {
      if (response.statusCode === 200 && !text.includes('"error"')) resolve();
      else reject(new Error(`The image could not be imported: ${text}`));
    });
  });
  sent.once("error", reject);
  tar.stdout.pipe(sent);
  await promise;
}
