import { createSandboxes, type SandboxesOptions } from "../../src/sandbox/create-sandboxes.ts";

/** A server that is killed while its command runs: only the sandbox of one. */
interface Input {
  readonly options: SandboxesOptions;
  readonly workspace: string;
  readonly command: string;
  readonly id: string;
}

const { options, workspace, command, id } = JSON.parse(process.argv[2] ?? "null") as Input;
const sandboxes = await createSandboxes(options);
const sandbox = await sandboxes.open("session", workspace);
await sandbox.execute(command, { id, onOutput: (text) => void process.stdout.write(text) });
