import type { SandboxCapabilities } from "../sandbox/sandbox.ts";

/**
 * What a model is told of the tool that runs commands. Deepagents' own words are of an isolated sandbox, a shell and absolute
 * paths, whichever sandbox there is: a model that went by them would be refused, and believe itself shut in.
 */
export function describeCommands({ shell, network, isolation }: SandboxCapabilities): string {
  const lines = [
    "Runs a command in the folder of files and returns what it printed, stdout and stderr, with its exit code. Much output is shortened.",
    "",
    'Paths are relative to that folder, where every call begins: what the other tools call "/notes.txt" is "notes.txt" here.',
    shell
      ? "A shell reads the command: chain with && or ;."
      : "No shell reads the command: one program with its arguments at a time. Pipes, redirections, variables, && and ; are refused.",
    ...(network === "none" ? ["It has no network."] : []),
    ...(isolation === "none"
      ? ["It is not isolated: it can read and change whatever the server's user can, so keep to the folder."]
      : []),
    "Quote paths with spaces. To look at files use ls, glob, grep and read_file instead.",
  ];
  return lines.join("\n");
}
