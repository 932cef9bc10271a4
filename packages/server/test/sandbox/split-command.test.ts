import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitCommand } from "../../src/sandbox/local/split-command.ts";

describe("a command is split", () => {
  test.each<[string, string[]]>([
    ["", []],
    ["   \t ", []],
    ["ls -la", ["ls", "-la"]],
    ["  ls\t  -la  ", ["ls", "-la"]],
    [`echo 'a b' "c d"`, ["echo", "a b", "c d"]],
    [`echo a'b'"c"d`, ["echo", "abcd"]],
    [`echo '' "" ''""`, ["echo", "", "", ""]],
    [String.raw`echo a\ b \' \" \\ \$HOME \|`, ["echo", "a b", "'", '"', "\\", "$HOME", "|"]],
    [String.raw`echo "a\"b" "a\\b" "a\nb" "\$x"`, ["echo", 'a"b', "a\\b", "a\\nb", "$x"]],
    ['echo "\\`"', ["echo", "`"]],
    [String.raw`echo '\' 'a"b'`, ["echo", "\\", 'a"b']],
    [`echo '$HOME' '*' '|' '>' '$(id)' ';'`, ["echo", "$HOME", "*", "|", ">", "$(id)", ";"]],
    [`echo "*" "|" "a;b" "(x)" "~"`, ["echo", "*", "|", "a;b", "(x)", "~"]],
    ["echo a # a comment | with > things", ["echo", "a"]],
    ["echo a#b '#' \\#", ["echo", "a#b", "#", "#"]],
    ["# only a comment", []],
    ["echo a \\\n  b", ["echo", "a", "b"]],
    ['echo "a\\\nb" "c\nd"', ["echo", "ab", "c\nd"]],
    ["echo a\n", ["echo", "a"]],
    ["\n\n echo a\n\n# end\n", ["echo", "a"]],
    ['echo 5$ $ \'$\' "$" "a$ b"', ["echo", "5$", "$", "$", "$", "a$ b"]],
    ["[ -f x ]", ["[", "-f", "x", "]"]],
    ["git log HEAD~2 a~", ["git", "log", "HEAD~2", "a~"]],
    ["env A=1 B=2 prog --x=y", ["env", "A=1", "B=2", "prog", "--x=y"]],
    ["echo {a,b} % ^ @ + !", ["echo", "{a,b}", "%", "^", "@", "+", "!"]],
    ["echo ünï 🚀", ["echo", "ünï", "🚀"]],
  ])("%j", (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });

  test("as the shell of this machine splits it", () => {
    const plain = fc.stringMatching(/^[a-z0-9_.,:/@%+-]{1,6}$/);
    const single = fc.string({ unit: "binary-ascii", maxLength: 8 }).map((text) => `'${text.replace(/['\0]/g, "")}'`);
    const double = fc
      .string({ unit: "binary-ascii", maxLength: 8 })
      .map((text) => `"${text.replace(/["\\`$\0]/g, (char) => (char === "\0" ? "" : `\\${char}`))}"`);
    const escaped = fc.stringMatching(/^[ -~]{1,4}$/).map((text) => [...text].map((char) => `\\${char}`).join(""));
    const word = fc
      .array(fc.oneof(plain, single, double, escaped), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(""));
    const command = fc.array(word, { maxLength: 5 }).map((words) => words.join(" \t"));
    fc.assert(
      fc.property(command, (text) => {
        expect(splitCommand(`printf ${text}`).slice(1)).toEqual(splitByShell(text));
      }),
      { numRuns: 60 },
    );
  });
});

describe("what needs a shell is refused", () => {
  test.each([
    ...[
      "a | b",
      "a|b",
      "a && b",
      "a || b",
      "a; b",
      "a;",
      "a &",
      "a > f",
      "a 2>&1",
      "a >> f",
      "a < f",
      "a << E",
      "(a)",
      "a)",
    ],
    ...[
      "echo $HOME",
      "echo $" + "{HOME}",
      "echo $(id)",
      'echo "$(id)"',
      'echo "$HOME"',
      "echo `id`",
      'echo "`id`"',
      "echo $1 $?",
      "echo $((1+1))",
    ],
    ...[
      "ls *",
      "ls a?",
      "ls [ab]*",
      "ls [ab]",
      "ls ~",
      "cd ~/x",
      "A=1 prog",
      "A=1",
      "a\nb",
      "if true",
      "! true",
      "{ a",
      "for x",
    ],
  ])("%j", (command) => {
    expect(() => splitCommand(command)).toThrow(expect.objectContaining({ code: "not_supported" }));
  });

  test.each(["echo 'a", 'echo "a', "echo \"a'", 'echo "a\\"'])("and what is not closed: %j", (command) => {
    expect(() => splitCommand(command)).toThrow(expect.objectContaining({ code: "validation_failed" }));
  });
});

/** The shell's own opinion, from the one that sh is here. */
function splitByShell(text: string): string[] {
  const out = execFileSync("sh", ["-c", `set -- ${text}\nfor word; do printf '%s\\0' "$word"; done`], {
    encoding: "utf8",
  });
  return out.split("\0").slice(0, -1);
}
