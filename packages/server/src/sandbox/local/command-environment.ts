/** Names that say how to run a program, and nothing about the server. Everything else of its environment stays behind. */
const PASSED_ON = ["PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME"];

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function commandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  folder: string,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  // No terminal reads the output: colours and progress bars would only cost tokens.
  const own = { PATH: DEFAULT_PATH, TERM: "dumb", HOME: folder, PWD: folder };
  return { ...own, ...Object.fromEntries(passed), ...added };
}
