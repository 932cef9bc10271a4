import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a file of this folder with a clean heap and gives what it printed. */
export async function runChild<T>(file: string, input: unknown, official: boolean): Promise<T> {
  const at = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const args = ["--conditions=cognition-source", "--expose-gc", "--disable-warning=ExperimentalWarning"];
  if (official) args.push("--import", new URL("./resolve-official.ts", import.meta.url).href);
  const { stdout } = await run(process.execPath, [...args, at(file), JSON.stringify(input)], { env: quiet() });
  return JSON.parse(stdout) as T;
}

/** A tracer that somebody has configured would be measured along, and sent the messages. */
function quiet(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^LANG(SMITH|CHAIN)_/.test(name));
  return Object.fromEntries(kept);
}
