/** Serves the chat page, with the client as one file. The page itself talks to the Cognition server. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";

const { values } = parseArgs({ options: { port: { type: "string", default: "3000" } } });
const FILES = ["/index.html", "/chat.css", "/chat.js", "/view.js"];
const TYPES: Record<string, string> = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };

/** As your own bundler would do it. */
async function bundleClient(): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(import.meta.resolve("@cognition/client")),
    platform: "browser",
    resolve: { conditionNames: ["cognition-source", "import", "default"] },
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  await build.close();
  return output[0].code;
}

const client = await bundleClient();

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://page");
  const path = pathname === "/" ? "/index.html" : pathname;
  const found =
    path === "/client.js" ? client : FILES.includes(path) && (await readFile(join(import.meta.dirname, path)));
  const type = TYPES[extname(path)] ?? "text/plain";
  response.writeHead(found ? 200 : 404, { "Content-Type": `${type}; charset=utf-8` }).end(found || "not found");
});
server.on("error", ({ message }) => {
  console.error(message); // such as a port that is taken
  process.exitCode = 1;
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`the chat page is on http://127.0.0.1:${port}`);
});
