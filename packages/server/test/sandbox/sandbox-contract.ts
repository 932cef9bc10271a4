import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { AppError } from "@cognition/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes, type SandboxesOptions } from "../../src/sandbox/create-sandboxes.ts";
import type { Sandbox, Sandboxes } from "../../src/sandbox/sandbox.ts";
import { nestFolders } from "./nest-folders.ts";
import { findProcesses, until } from "./wait-for.ts";

/** What every back end promises. The commands are programs with arguments, so that they need no shell of the sandbox. */
export function sandboxContract(
  name: string,
  options: Pick<SandboxesOptions, "backend" | "bubblewrap" | "cgroups" | "docker">,
): void {
  let temp: TempDir;
  let workspace: string;
  let sandboxes: Sandboxes;
  let sandbox: Sandbox;

  const start = (more: Partial<SandboxesOptions> = {}) =>
    createSandboxes({
      environment: { ...process.env, SERVER_SECRET: "s3cret" },
      stateDatabase: join(workspace, ".cognition", "state.db"),
      commandFolder: join(temp.path, "commands"),
      ...options,
      ...more,
    });

  beforeEach(async () => {
    temp = createTempDir();
    workspace = join(temp.path, "workspace");
    mkdirSync(join(workspace, ".cognition"), { recursive: true });
    writeFileSync(join(workspace, ".cognition", "state.db"), "database");
    writeFileSync(join(workspace, ".cognition", "config.yaml"), "config");
    writeFileSync(join(temp.path, "outside.txt"), "outside");
    sandboxes = await start();
    sandbox = await sandboxes.open("session", workspace);
  });

  afterEach(async () => {
    await sandboxes.close();
    temp.remove();
  });

  const inWorkspace = (path: string) => join(workspace, path);
  /** A command tells by a file that it runs. */
  const started = (file: string) => until(() => existsSync(inWorkspace(file)));

  describe(`${name}: a command`, () => {
    test("gives its output, its exit code and its time", async () => {
      const result = await sandbox.execute(`sh -c 'echo out; echo err >&2; exit 3'`);
      expect(result).toMatchObject({ exit_code: 3, truncated: false, timed_out: false });
      expect(result.output.split("\n").sort()).toEqual(["", "err", "out"]);
      expect(result.duration_ms).toBeGreaterThanOrEqual(0);
      expect(result.id).not.toBe("");
    });

    test("starts in the workspace, which is its home", async () => {
      const result = await sandbox.execute(`sh -c 'pwd; echo $HOME'`);
      expect(result.output).toBe(`${sandbox.root}\n${sandbox.root}\n`);
    });

    test("gets a clean environment and what it is given", async () => {
      const result = await sandbox.execute("env", { env: { GIVEN: "a b\n'c'" } });
      expect(result.output).toContain("GIVEN=a b\n'c'");
      expect(result.output).not.toContain("s3cret");
      expect(result.output).not.toMatch(/NODE_|VITEST|npm_/);
    });

    test("reads its input, or an empty one", async () => {
      expect((await sandbox.execute("cat", { stdin: "ünïcode\n" })).output).toBe("ünïcode\n");
      expect((await sandbox.execute("wc -c", { stdin: new Uint8Array(300_000) })).output.trim()).toBe("300000");
      expect((await sandbox.execute("cat")).output).toBe("");
    });

    test("need not read its input", async () => {
      expect(await sandbox.execute("true", { stdin: "x".repeat(1_000_000) })).toMatchObject({ exit_code: 0 });
    });

    test("keeps odd characters in its arguments", async () => {
      const odd = "a  b\t*?$HOME `x` \\ ünï 🚀 \n end";
      expect((await sandbox.execute(`printf %s '${odd}'`)).output).toBe(odd);
    });

    test("that does not exist is 127, and one that may not be run 126", async () => {
      expect(await sandbox.execute("no-such-program-here")).toMatchObject({ exit_code: 127 });
      writeFileSync(inWorkspace("plain"), "text", { mode: 0o644 });
      const plain = await sandbox.execute("./plain");
      expect(plain).toMatchObject({ exit_code: 126 });
      expect(plain.output).not.toBe("");
    });

    test("that a signal ended is 128 and the signal", async () => {
      expect(await sandbox.execute(`sh -c 'kill -9 $$'`)).toMatchObject({ exit_code: 137, timed_out: false });
    });

    test("without its folder is told so, before it starts and while it runs", async () => {
      const gone = { code: "workspace_path_refused", message: expect.stringContaining("workspace folder is gone") };
      const running = sandbox.execute("sh -c 'touch running; sleep 30'");
      await started("running");
      renameSync(workspace, `${workspace}-moved`);
      await expect(running).rejects.toMatchObject(gone);
      await expect(sandbox.execute("true")).rejects.toMatchObject(gone);
      renameSync(`${workspace}-moved`, workspace);
      expect(await sandbox.execute("true")).toMatchObject({ exit_code: 0 });
    });

    test.each(["", "  \n "])("is refused when it is empty: %j", async (command) => {
      await expect(sandbox.execute(command)).rejects.toMatchObject({ code: "validation_failed" });
    });

    test("is refused with a NUL, a bad variable or a bad time", async () => {
      await expect(sandbox.execute("echo \0")).rejects.toMatchObject({ code: "validation_failed" });
      await expect(sandbox.execute("true", { env: { "A=B": "1" } })).rejects.toMatchObject({
        code: "validation_failed",
      });
      await expect(sandbox.execute("true", { timeout_ms: 0 })).rejects.toMatchObject({ code: "validation_failed" });
    });

    test("may be long, and is refused where no program could be given it", async () => {
      const long = (bytes: number) => `echo ${"x".repeat(bytes - 5)}`;
      expect(await sandbox.execute(long(100_000))).toMatchObject({ exit_code: 0 });
      const refused = { code: "validation_failed", message: expect.stringContaining("Write a file with a file tool") };
      await expect(sandbox.execute(long(100_001))).rejects.toMatchObject(refused);
    });

    test("can be found by its id while it runs, and the id cannot be taken twice", async () => {
      const stop = new AbortController();
      const command = `sh -c 'echo > started; exec sleep 60'`;
      const ended = sandbox.execute(command, { id: "call-1", signal: stop.signal });
      await started("started");
      expect(sandbox.running()).toMatchObject([{ id: "call-1", command }]);
      await expect(sandbox.execute("true", { id: "call-1" })).rejects.toMatchObject({ code: "already_exists" });
      stop.abort(new Error("enough"));
      await expect(ended).rejects.toThrow("enough");
      expect(sandbox.running()).toEqual([]);
      expect(await sandbox.execute("true", { id: "call-1" })).toMatchObject({ id: "call-1", exit_code: 0 });
    });

    test("runs beside others", async () => {
      const results = await Promise.all([1, 2, 3, 4].map((n) => sandbox.execute(`sh -c 'echo ${n}'`)));
      expect(results.map(({ output }) => output)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
    });
  });

  describe(`${name}: output`, () => {
    test("streams while the command runs, in whole characters", async () => {
      const parts: string[] = [];
      const running = sandbox.execute(
        `sh -c 'printf "\\303"; echo > half; while [ ! -e go ]; do sleep 0.02; done; printf "\\274b"'`,
        {
          onOutput: (text) => parts.push(text),
        },
      );
      await started("half");
      writeFileSync(inWorkspace("go"), "");
      const { output } = await running;
      expect(output).toBe("üb");
      expect(parts.join("")).toBe("üb");
    });

    test("arrives before the command ends", async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const running = sandbox.execute(`sh -c 'echo first; while [ ! -e go ]; do sleep 0.02; done; echo last'`, {
        onOutput: resolve,
      });
      expect(await promise).toBe("first\n");
      writeFileSync(inWorkspace("go"), "");
      expect((await running).output).toBe("first\nlast\n");
    });

    test("is cut at 100 KB with a note, and the command goes on", async () => {
      const parts: string[] = [];
      const result = await sandbox.execute(`sh -c 'head -c 1000000 /dev/zero | tr "\\0" x; echo done > end; exit 4'`, {
        onOutput: (text) => parts.push(text),
      });
      expect(result).toMatchObject({ exit_code: 4, truncated: true });
      expect(result.output.slice(0, 102_400)).toBe("x".repeat(102_400));
      expect(result.output.slice(102_400)).toBe("\n[output cut after 102400 bytes; 897600 more were dropped]");
      expect(parts.join("")).toBe(result.output);
      expect(readFileSync(inWorkspace("end"), "utf8")).toBe("done\n");
    });

    test("that the caller cannot take stops the command", async () => {
      const onOutput = () => {
        throw new Error("cannot take it");
      };
      await expect(sandbox.execute(`sh -c 'echo a; exec sleep 60'`, { onOutput })).rejects.toThrow("cannot take it");
      expect(sandbox.running()).toEqual([]);
    });
  });

  describe(`${name}: stopping`, () => {
    /** Four ways to get away from a kill: the background, a session of its own, two forks with a clean environment, an orphan. */
    const family = (seconds: string) =>
      [
        `trap "" TERM HUP`,
        `sleep ${seconds} &`,
        `setsid sleep ${seconds} &`,
        `env -i setsid sh -c "setsid sleep ${seconds} & exit" &`,
        `(sh -c "sleep ${seconds}; sleep ${seconds}" &)`,
        `while [ ! -e go ]; do sleep 0.02; done`,
      ].join("\n");
    const alive = (seconds: string) => findProcesses(`sleep ${seconds}`);
    let serial = 0;
    const unique = () => `${1000 + (process.pid % 1000)}.${++serial}${name.length}`;

    test("an abort kills the whole tree, then rejects with its reason", async () => {
      const seconds = unique();
      writeFileSync(inWorkspace("family.sh"), family(seconds));
      const stop = new AbortController();
      const running = sandbox.execute("sh family.sh", { signal: stop.signal });
      running.catch(() => {});
      await until(() => alive(seconds).length === 4);
      const reason = new Error("the user said so");
      stop.abort(reason);
      await expect(running).rejects.toBe(reason);
      expect(alive(seconds)).toEqual([]);
    });

    test("the end of the time does the same and is a result", async () => {
      const seconds = unique();
      writeFileSync(inWorkspace("family.sh"), `echo begun\n${family(seconds)}`);
      // Long enough for a busy machine to have begun.
      const result = await sandbox.execute("sh family.sh", { timeout_ms: 5_000 });
      expect(result).toMatchObject({ output: "begun\n", exit_code: null, timed_out: true, truncated: false });
      expect(alive(seconds)).toEqual([]);
    });

    test("what a command leaves in the background dies with its end", async () => {
      const seconds = unique();
      writeFileSync(inWorkspace("family.sh"), family(seconds));
      const running = sandbox.execute("sh family.sh");
      await until(() => alive(seconds).length === 4);
      writeFileSync(inWorkspace("go"), "");
      expect(await running).toMatchObject({ exit_code: 0, timed_out: false });
      expect(alive(seconds)).toEqual([]);
    });

    test("a program may clean up before it is killed", async () => {
      writeFileSync(inWorkspace("tidy.sh"), `trap 'rm lock; exit' TERM\necho > lock\nwhile :; do sleep 0.02; done\n`);
      const stopped = async () => {
        rmSync(inWorkspace("lock"), { force: true });
        const stop = new AbortController();
        const running = sandbox.execute("sh tidy.sh", { signal: stop.signal });
        await started("lock");
        stop.abort(new Error("stop"));
        await expect(running).rejects.toThrow("stop");
        return existsSync(inWorkspace("lock")) ? "locked" : "tidy";
      };
      // Through a wrapper that takes the signal for itself a program gets no such chance; and it is a short one, in which
      // a busy machine may not give the program its turn.
      if (sandbox.capabilities.isolation === "none") await expect.poll(stopped).toBe("tidy");
      else await stopped();
    });

    test("an abort that came before starts nothing", async () => {
      const signal = AbortSignal.abort(new Error("too late"));
      await expect(sandbox.execute("touch ran", { signal })).rejects.toThrow("too late");
      expect(existsSync(inWorkspace("ran"))).toBe(false);
    });

    test("removing the session, and closing, kill what runs", async () => {
      const first = sandbox.execute(`sh -c 'echo > started; exec sleep 60'`);
      await started("started");
      const [removed] = await Promise.all([first.catch((error: unknown) => error), sandboxes.remove("session")]);
      expect(removed).toMatchObject({ code: "aborted" });
      const again = await sandboxes.open("session", workspace);
      const second = again.execute(`sh -c 'echo > started2; exec sleep 60'`);
      await started("started2");
      const [closed] = await Promise.all([second.catch((error: unknown) => error), sandboxes.close()]);
      expect(closed).toMatchObject({ code: "aborted" });
      await expect(again.execute("true")).rejects.toMatchObject({ code: "aborted" });
      await expect(sandboxes.open("other", workspace)).rejects.toMatchObject({ code: "aborted" });
    });
  });

  describe(`${name}: files`, () => {
    test("come back as they were written, and commands see them", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const text = `\uFEFFünï 🚀\r\n\t${"x".repeat(1_000_000)}`;
      expect(await sandbox.files.write("a/b/bytes.bin", bytes)).toMatchObject({
        path: "a/b/bytes.bin",
        type: "file",
        size: 256,
      });
      await sandbox.files.write("text.txt", text);
      expect(Uint8Array.from(await sandbox.files.read("a/b/bytes.bin"))).toEqual(bytes);
      expect(await sandbox.files.readText("text.txt")).toBe(text);
      await expect(sandbox.files.readText("a/b/bytes.bin")).rejects.toMatchObject({ code: "validation_failed" });
      expect((await sandbox.execute("wc -c a/b/bytes.bin")).output).toContain("256");
      await sandbox.execute("sh -c 'echo from-command > c.txt'");
      expect(await sandbox.files.readText(`${sandbox.root}/c.txt`)).toBe("from-command\n");
    });

    test("keep their mode when written, but never the right to be another user", async () => {
      writeFileSync(inWorkspace("run.sh"), "old");
      chmodSync(inWorkspace("run.sh"), 0o4750);
      await sandbox.files.write("run.sh", "new");
      expect(statSync(inWorkspace("run.sh")).mode & 0o7777).toBe(0o750);
    });

    test("leave nothing beside them, also when writing fails", async () => {
      await sandbox.files.write("dir/file", "x");
      await expect(sandbox.files.write("dir", "x")).rejects.toMatchObject({ code: "validation_failed" });
      await expect(sandbox.files.write("dir/file/below", "x")).rejects.toMatchObject({ code: "validation_failed" });
      expect(await names(sandbox, "dir")).toEqual(["dir/file"]);
    });

    test("are edited where the text is exactly once, or everywhere", async () => {
      await sandbox.files.write("f", "one two two");
      const edit = (old_text: string, new_text: string, replace_all = false) =>
        sandbox.files.edit("f", { old_text, new_text, replace_all });
      expect(await edit("one", "$& $1")).toEqual({ replaced: 1 });
      await expect(edit("two", "2")).rejects.toMatchObject({
        code: "validation_failed",
        message: expect.stringContaining("2 times"),
      });
      await expect(edit("three", "3")).rejects.toMatchObject({ code: "validation_failed" });
      await expect(edit("", "3")).rejects.toMatchObject({ code: "validation_failed" });
      expect(await sandbox.files.readText("f")).toBe("$& $1 two two");
      expect(await edit("two", "2", true)).toEqual({ replaced: 2 });
      expect(await sandbox.files.readText("f")).toBe("$& $1 2 2");
    });

    test("lose no edit to another one at the same time, from another session of the folder either", async () => {
      const other = await sandboxes.open("other", workspace);
      const lines = Array.from({ length: 20 }, (_, index) => `line-${index}-end`);
      await sandbox.files.write("f", lines.join("\n"));
      const edits = lines.map((line, index) =>
        (index % 2 ? sandbox : other).files.edit("f", { old_text: line, new_text: `done-${index}` }),
      );
      await Promise.all(edits);
      expect(await sandbox.files.readText("f")).toBe(lines.map((_, index) => `done-${index}`).join("\n"));
    });

    test("are listed with their type, sorted", async () => {
      await sandbox.files.write("b/x", "1");
      await sandbox.files.write("a.txt", "22");
      symlinkSync("a.txt", inWorkspace("link"));
      await sandbox.execute("mkfifo pipe");
      const entries = (await sandbox.files.ls()).filter(({ path }) => path !== ".cognition");
      expect(entries.map(({ path, type }) => [path, type])).toEqual([
        ["a.txt", "file"],
        ["b", "directory"],
        ["link", "symlink"],
      ]);
      expect(entries[0]).toMatchObject({ size: 2, modified_at: expect.stringMatching(/Z$/) });
      expect(await names(sandbox, `${sandbox.root}/b`)).toEqual(["b/x"]);
      await expect(sandbox.files.ls("a.txt")).rejects.toMatchObject({ code: "validation_failed" });
      await expect(sandbox.files.ls("none")).rejects.toMatchObject({ code: "file_not_found" });
    });

    test("are found by name and by content", async () => {
      for (const path of ["a.ts", "src/b.ts", "src/deep/c.tsx", "src/deep/d.md"])
        await sandbox.files.write(path, `// TODO ${path}\nx.*y\r\n`);
      await sandbox.files.write("binary.ts", Uint8Array.of(0, 84, 79, 68, 79));
      const found = async (pattern: string, path?: string) =>
        (await sandbox.files.glob(pattern, path === undefined ? {} : { path })).files.map((file) => file.path);
      expect(await found("*.ts")).toEqual(["a.ts", "binary.ts", "src/b.ts"]);
      expect(await found("src/*.ts")).toEqual(["src/b.ts"]);
      expect(await found("**/*.{tsx,md}")).toEqual(["src/deep/c.tsx", "src/deep/d.md"]);
      expect(await found("deep/[!d]*", "src")).toEqual(["src/deep/c.tsx"]);
      const todos = await sandbox.files.grep("TODO", { path: "src", glob: "*.ts*" });
      expect(todos).toEqual({
        matches: [
          { path: "src/b.ts", line: 1, text: "// TODO src/b.ts" },
          { path: "src/deep/c.tsx", line: 1, text: "// TODO src/deep/c.tsx" },
        ],
        truncated: false,
      });
      const inOne = await sandbox.files.grep("TODO", { path: "src/deep/d.md" });
      expect(inOne.matches).toEqual([{ path: "src/deep/d.md", line: 1, text: "// TODO src/deep/d.md" }]);
      expect((await sandbox.files.grep("TODO", { path: "src/deep/d.md", glob: "*.ts" })).matches).toEqual([]);
      expect(await found("*.ts", "src/b.ts")).toEqual(["src/b.ts"]);
      expect((await sandbox.files.grep("x.*y", { limit: 2 })).matches).toHaveLength(2);
      expect(await sandbox.files.grep("x.*y", { limit: 2 })).toMatchObject({ truncated: true });
      expect(await sandbox.files.glob("**", { limit: 1 })).toMatchObject({ truncated: true });
      await expect(sandbox.files.grep("")).rejects.toMatchObject({ code: "validation_failed" });
    });

    test("are deleted, folders with all in them, links without what they lead to", async () => {
      await sandbox.files.write("dir/sub/file", "x");
      await sandbox.files.write("keep/file", "x");
      symlinkSync("../keep", inWorkspace("dir/link"));
      symlinkSync(temp.path, inWorkspace("dir/out"));
      await sandbox.files.delete("dir");
      expect(await sandbox.files.exists("dir")).toBe(false);
      expect(await sandbox.files.exists("keep/file")).toBe(true);
      expect(existsSync(join(temp.path, "outside.txt"))).toBe(true);
      await expect(sandbox.files.delete("dir")).rejects.toMatchObject({ code: "file_not_found" });
      await expect(sandbox.files.delete(".")).rejects.toMatchObject({ code: "workspace_path_refused" });
    });

    test("are deleted however deep they lie, also beyond the longest path", async () => {
      const before = readdirSync(inWorkspace("."));
      nestFolders(inWorkspace("."), 450, "n".repeat(20));
      await sandbox.files.delete("n".repeat(20));
      expect(readdirSync(inWorkspace("."))).toEqual(before);
    });

    test("are deleted with a folder whatever bytes they are called by", async () => {
      mkdirSync(inWorkspace("dir"));
      writeFileSync(Buffer.from(`${workspace}/dir/\xff`, "latin1"), "x");
      mkdirSync(Buffer.from(`${workspace}/dir/\xfe`, "latin1"));
      await sandbox.files.delete("dir");
      expect(existsSync(inWorkspace("dir"))).toBe(false);
    });

    test("too large are refused, by number", async () => {
      const small = await start({ maxFileBytes: 10 });
      const { files } = await small.open("small", workspace);
      writeFileSync(inWorkspace("big"), "x".repeat(11));
      await expect(files.read("big")).rejects.toMatchObject({ code: "content_too_large", details: { limit: 10 } });
      await expect(files.write("big2", "ü".repeat(6))).rejects.toMatchObject({ code: "content_too_large" });
      expect(await files.exists("big2")).toBe(false);
      await small.close();
    });

    test("that are pipes are refused at once", async () => {
      await sandbox.execute("mkfifo pipe");
      await expect(sandbox.files.read("pipe")).rejects.toMatchObject({ code: "validation_failed" });
      await expect(sandbox.files.write("pipe", "x")).rejects.toMatchObject({ code: "validation_failed" });
    });
  });

  describe(`${name}: the size of the workspace`, () => {
    const limits = { workspace_bytes: 2 * 2 ** 20 };

    test("stops a command that writes beyond it, in however many files, but none that deletes", async () => {
      const limited = await start({ limits });
      const small = await limited.open("small", workspace);
      writeFileSync(
        inWorkspace("fill.sh"),
        "while :; do n=$((n+1)); head -c 300000 /dev/zero > fill-$n; sleep 0.05; done\n",
      );
      const refused = { code: "limit_exceeded", details: { limit: limits.workspace_bytes } };
      await expect(small.execute("sh fill.sh")).rejects.toMatchObject(refused);
      await expect(small.files.write("more", "x")).rejects.toMatchObject(refused);
      expect(await small.execute("sh -c 'rm fill-*; sleep 1.2'")).toMatchObject({ exit_code: 0 });
      await small.files.write("more", "x");
      await limited.remove("small");
      await limited.close();
    });

    test("counts what lies beyond the longest path, and what is called by bytes that are no text", async () => {
      const limited = await start({ limits });
      const small = await limited.open("small", workspace);
      nestFolders(inWorkspace("."), 450, "n".repeat(20));
      expect(await small.execute("sleep 0.6")).toMatchObject({ exit_code: 0 });
      await small.files.write("a", "x");
      writeFileSync(Buffer.from(`${workspace}/\xff`, "latin1"), new Uint8Array(3_000_000).fill(1));
      expect(await small.execute("true")).toMatchObject({ exit_code: 0 });
      await expect(small.files.write("b", "x")).rejects.toMatchObject({ code: "limit_exceeded" });
      await limited.remove("small");
      await limited.close();
    });

    test("is kept by the file tools too", async () => {
      const limited = await start({ limits });
      const { files } = await limited.open("small", workspace);
      const half = new Uint8Array(1_000_000).fill(1);
      await files.write("a", half);
      await files.write("a", half);
      await files.write("b", half);
      await expect(files.write("c", half)).rejects.toMatchObject({ code: "limit_exceeded" });
      expect(await files.exists("c")).toBe(false);
      await files.delete("a");
      await files.write("c", half);
      await limited.close();
    });
  });

  describe(`${name}: no way out`, () => {
    const ways = [
      "../outside.txt",
      "a/../../outside.txt",
      "/etc/passwd",
      "out",
      "out-file",
      "up/outside.txt",
      "chain",
      "/proc/self/environ",
    ];

    beforeEach(() => {
      mkdirSync(inWorkspace("a"));
      symlinkSync("/etc", inWorkspace("out"));
      symlinkSync(join(temp.path, "outside.txt"), inWorkspace("out-file"));
      symlinkSync("..", inWorkspace("up"));
      symlinkSync("a/../out-file", inWorkspace("chain"));
    });

    test.each(ways)("through %s", async (path) => {
      const target = path === "out" ? "out/hostname" : path;
      const refused = { code: "workspace_path_refused" };
      await expect(sandbox.files.read(target)).rejects.toMatchObject(refused);
      await expect(sandbox.files.write(target, "changed")).rejects.toMatchObject(refused);
      await expect(sandbox.files.edit(target, { old_text: "outside", new_text: "changed" })).rejects.toMatchObject(
        refused,
      );
      await expect(sandbox.files.stat(target)).rejects.toMatchObject(refused);
      await expect(sandbox.files.exists(target)).rejects.toMatchObject(refused);
      await expect(sandbox.files.ls(path)).rejects.toMatchObject(refused);
      await expect(sandbox.files.glob("*", { path })).rejects.toMatchObject(refused);
      await expect(sandbox.files.grep("a", { path })).rejects.toMatchObject(refused);
      expect(readFileSync(join(temp.path, "outside.txt"), "utf8")).toBe("outside");
    });

    test("by a path beside the root that begins like it", async () => {
      mkdirSync(`${workspace}-other`);
      writeFileSync(`${workspace}-other/x`, "x");
      await expect(sandbox.files.read(`${workspace}-other/x`)).rejects.toMatchObject({
        code: "workspace_path_refused",
      });
    });

    test("by deleting through a link", async () => {
      await expect(sandbox.files.delete("up/outside.txt")).rejects.toMatchObject({ code: "workspace_path_refused" });
      await sandbox.files.delete("out-file");
      expect(existsSync(join(temp.path, "outside.txt"))).toBe(true);
    });

    test("and search does not go through links", async () => {
      expect((await sandbox.files.glob("**/outside.txt")).files).toEqual([]);
      expect((await sandbox.files.grep("outside")).matches).toEqual([]);
    });

    test("links that stay inside are followed, circles are refused, `..` is where the folder is", async () => {
      await sandbox.files.write("a/deep/x", "inside");
      symlinkSync("a/deep", inWorkspace("link"));
      symlinkSync(`${sandbox.root}/a`, inWorkspace("absolute"));
      symlinkSync("circle", inWorkspace("circle"));
      expect(await sandbox.files.readText("link/x")).toBe("inside");
      expect(await sandbox.files.readText("absolute/deep/x")).toBe("inside");
      await sandbox.files.write("link/../y", "beside deep");
      expect(readFileSync(inWorkspace("a/y"), "utf8")).toBe("beside deep");
      await expect(sandbox.files.read("circle")).rejects.toMatchObject({ code: "workspace_path_refused" });
      await expect(sandbox.files.read("a\0b")).rejects.toMatchObject({ code: "workspace_path_refused" });
      await expect(sandbox.files.read("x".repeat(300))).rejects.toMatchObject({ code: "workspace_path_refused" });
      await expect(sandbox.files.read("d/".repeat(3_000))).rejects.toMatchObject({ code: "workspace_path_refused" });
    });
  });

  describe(`${name}: protected paths`, () => {
    test.each([
      ".cognition/config.yaml",
      ".cognition/tools/new.ts",
      "./a/../.cognition/x",
      ".cognition",
      "link/x",
      ".cognition/state.db",
    ])("are not written: %s", async (path) => {
      mkdirSync(inWorkspace("a"));
      symlinkSync(".cognition", inWorkspace("link"));
      const forbidden = { code: "forbidden" };
      await expect(sandbox.files.write(path, "evil")).rejects.toMatchObject(forbidden);
      await expect(sandbox.files.write(`${path}/below/x`, "evil")).rejects.toBeInstanceOf(AppError);
      await expect(sandbox.files.delete(path)).rejects.toBeInstanceOf(AppError);
      expect(readFileSync(inWorkspace(".cognition/config.yaml"), "utf8")).toBe("config");
      expect(existsSync(inWorkspace(".cognition/tools"))).toBe(false);
      expect(existsSync(inWorkspace(".cognition/x"))).toBe(false);
    });

    test("can be read, but not the database, by any of its names", async () => {
      linkSync(inWorkspace(".cognition/state.db"), inWorkspace("hard"));
      symlinkSync(".cognition/state.db", inWorkspace("soft"));
      expect(await sandbox.files.readText(".cognition/config.yaml")).toBe("config");
      for (const path of [".cognition/state.db", "hard", "soft", ".cognition/state.db-wal"])
        await expect(sandbox.files.read(path)).rejects.toMatchObject({ code: "forbidden" });
      expect((await sandbox.files.grep("database")).matches).toEqual([]);
    });

    test("are out of the reach of commands", async () => {
      const tries = [
        "touch .cognition/new",
        "rm -rf .cognition",
        "mv .cognition elsewhere",
        "cat .cognition/state.db",
        `sh -c 'echo evil > .cognition/config.yaml'`,
        "cp link/state.db copy",
      ];
      symlinkSync(".cognition", inWorkspace("link"));
      for (const command of tries) {
        const outcome = await sandbox.execute(command).catch((error: { code: string }) => error);
        if ("exit_code" in outcome) expect(outcome.exit_code, command).not.toBe(0);
        else expect(outcome.code, command).toBe("forbidden");
      }
      expect(readFileSync(inWorkspace(".cognition/config.yaml"), "utf8")).toBe("config");
      expect(readFileSync(inWorkspace(".cognition/state.db"), "utf8")).toBe("database");
      expect(existsSync(inWorkspace(".cognition/new"))).toBe(false);
      expect(existsSync(inWorkspace("copy"))).toBe(false);
    });
  });

  describe(`${name}: sandboxes`, () => {
    test("are the same for the same session and folder, another folder is refused", async () => {
      expect(await sandboxes.open("session", workspace)).toBe(sandbox);
      await expect(sandboxes.open("session", temp.path)).rejects.toMatchObject({ code: "validation_failed" });
      for (const path of ["relative", join(temp.path, "none"), join(temp.path, "outside.txt")])
        await expect(sandboxes.open("new", path)).rejects.toMatchObject({ code: "workspace_path_refused" });
    });

    test("describe themselves", () => {
      const described = sandboxes.describe();
      expect(described.backend).toBe(options.backend);
      expect(described.capabilities).toEqual(sandbox.capabilities);
      expect(described.limits.time).toEqual({ value: "300000 ms", enforced_by: expect.any(String) });
      expect(described.limits.output?.enforced_by).not.toBeNull();
    });
  });
}

async function names(sandbox: Sandbox, path: string): Promise<string[]> {
  return (await sandbox.files.ls(path)).map((file) => file.path);
}
