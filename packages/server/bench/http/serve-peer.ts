import { join } from "node:path";
import { tellParent } from "./tell-parent.ts";

/** As far as it is used here: the workspace has no such package, and so no types of it. */
interface PeerServer {
  startServer(options: {
    port: number;
    nWorkers: number;
    host: string;
    cwd: string;
    graphs: Record<string, string>;
  }): Promise<{ host: string }>;
}

/** Copied beside the installed packages and run there, as its own `dev` command does it. */
const [folder = ".", workers = "10", port = "0"] = process.argv.slice(2);
const name = "@langchain/langgraph-api/server";
const { startServer }: PeerServer = await import(name);
const { host } = await startServer({
  port: Number(port),
  nWorkers: Number(workers),
  host: "127.0.0.1",
  cwd: folder,
  graphs: { echo: `${join(import.meta.dirname, "echo-graph.ts")}:graph` },
});
tellParent(`http://${host}`);
