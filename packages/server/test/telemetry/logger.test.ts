import { AppError } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { secretValues } from "../../src/config/secret-values.ts";
import { defaultConfig } from "../../src/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";

const API_KEY = `cog_0123456789_${"Ab-_".repeat(11).slice(0, 43)}`;
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl";
const PROVIDER_KEY = "sk-proj-0123456789abcdefghij";
const ODD = 'a "secret"\\with &=? odd\ncharacters';

function logged(
  secrets: string[],
  write: (log: ReturnType<typeof createLogger>) => void,
  format: "json" | "console" = "json",
): string {
  let text = "";
  const log = createLogger({ level: "debug", format, write: (line) => (text += line), secrets });
  write(log);
  return text;
}

describe("no secret is in the log", () => {
  it.each(["json", "console"] as const)("wherever it stands, as %s", (format) => {
    const cause = new Error(`GET https://ann:hunter2hunter2@db.example/x?api_key=${PROVIDER_KEY}&x=1 failed`);
    const text = logged(
      ["a-known-password", ODD],
      (log) => {
        log.info({ headers: { authorization: `Bearer ${API_KEY}`, "x-api-key": API_KEY } }, `used ${API_KEY}`);
        log.error({ error: new Error(`401 for token ${JWT}`, { cause }) }, "failed");
        log.warn(
          { uri: "postgresql://ann:a-known-password@db/x", odd: ODD, url: `/?q=${encodeURIComponent(ODD)}` },
          ODD,
        );
        log.debug(
          { provider: { api_key: "short-but-named", client_secret: "also named" } },
          `Basic ${btoa("ann:pw-of-ann")}`,
        );
        log.info(`webhook whsec_${"x".repeat(32)} and ${PROVIDER_KEY}`);
      },
      format,
    );
    const secrets = [
      API_KEY.slice(15),
      JWT,
      "eyJzdWIi",
      PROVIDER_KEY.slice(3),
      "hunter2hunter2",
      "a-known-password",
      "short-but-named",
      "also named",
      btoa("ann:pw-of-ann"),
      "x".repeat(32),
      "secret\\",
      "odd" + "\\ncharacters",
      encodeURIComponent(ODD),
    ];
    for (const secret of secrets) expect(text, secret).not.toContain(secret);
    for (const kept of ["cog_0123456789_[hidden]", "db.example", "failed", "401 for token"])
      expect(text).toContain(kept);
  });

  it("what is none stays as it is, and every line is still JSON", () => {
    const fields = { path: "/sessions/0190/files/token.txt", scope: { user: "ann" }, token_count: 12, input_tokens: 3 };
    const text = logged(["x", ""], (log) => log.info(fields, "ask key questions"));
    expect(JSON.parse(text)).toEqual({ level: "info", time: expect.any(String), msg: "ask key questions", ...fields });
  });
});

it("for people an error with a code is its words, and a fault keeps its stack", () => {
  const told = (error: Error) => logged([], (log) => log.error({ error }, "something failed"), "console");
  const failed = new AppError("model_failed", "The provider failed.\nTwice.");
  expect(told(failed).split("\n").slice(1)).toEqual(["    model_failed: The provider failed.", "    Twice.", ""]);
  for (const fault of [new TypeError("oops"), new AppError("internal", "oops")])
    expect(told(fault)).toMatch(/oops\n +at /);
  const caused = new AppError("storage_unavailable", "It is away.", { cause: new Error("ECONNRESET") });
  expect(told(caused)).toMatch(/storage_unavailable: It is away\.\n +caused by\n +Error: ECONNRESET\n +at /);
});

it("a password that can't be decoded is a secret as it is, and no fault of the log", () => {
  const config = defaultConfig();
  const uri = "postgresql://u:hunter2%@h/db";
  expect(secretValues({ ...config, persistence: { ...config.persistence, uri } }, {})).toContain("hunter2%");
});

it("a password among the parameters of an address is a secret too", () => {
  const config = defaultConfig();
  const uri = "postgresql://u@h/db?sslmode=require&password=hunter%402";
  expect(secretValues({ ...config, persistence: { ...config.persistence, uri } }, {})).toContain("hunter@2");
});

it("of an MCP server what may be a secret is one, and not its names; nor is a path, or a storage without a place", () => {
  const config = defaultConfig();
  const server = { name: "tickets", connect_timeout_ms: 1000, call_timeout_ms: 1000 };
  const local = {
    ...server,
    command: "python",
    cwd: "folder",
    args: ["--token=in-args"],
    env: { PASSWORD: "in-its-env" },
    tools: ["create"],
    effect: "execute" as const,
  };
  const remote = { ...server, url: "https://mcp.example/in-url", headers: { authorization: "in-headers" } };
  const secrets = secretValues(
    {
      ...config,
      tools: { ...config.tools, mcp: [local, remote] },
      persistence: { ...config.persistence, uri: "memory" },
    },
    {},
  );
  expect(secrets).toEqual(["--token=in-args", "in-its-env", "https://mcp.example/in-url", "in-headers"]);
});

it("every secret of the configuration is known, and variables named like one", () => {
  const config = defaultConfig();
  const secrets = secretValues(
    {
      ...config,
      persistence: { ...config.persistence, uri: "postgresql://ann:p%40ssword@db/x" },
      traces: { ...config.traces, headers: { "x-key": "collector-secret" } },
      auth: { ...config.auth, jwt: { ...config.auth.jwt, secret: "signing-secret" } },
    },
    { OPENAI_API_KEY: "provider-secret", PATH: "/usr/bin", DB_PASSWORD: "other-secret" },
  );
  for (const secret of [
    "p%40ssword",
    "p@ssword",
    "collector-secret",
    "signing-secret",
    "provider-secret",
    "other-secret",
  ]) {
    expect(secrets).toContain(secret);
  }
  expect(secrets).not.toContain("/usr/bin");
});

describe("levels and formats", () => {
  it("less severe messages are left out", () => {
    const lines: string[] = [];
    const log = createLogger({ level: "warn", format: "json", write: (line) => lines.push(line), secrets: [] });
    log.info("no");
    log.warn("yes");
    expect(lines).toHaveLength(1);
  });

  it("on a terminal a line is for people", () => {
    const line = logged([], (log) => log.info({ path: "/a b", status: 200 }, "request"), "console");
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}request path="\/a b" status=200\n$/);
    const failed = logged([], (log) => log.error({ error: new Error("broken") }, "run failed"), "console");
    expect(failed).toMatch(/error run failed\n {4}Error: broken\n {8}at /);
  });

  it("on a terminal nothing that others said moves the cursor, sets the title or turns the text around", () => {
    const said = "a\u001b[2J\u009b31m\u001b]0;title\u0007\u202eb\rc\u007f";
    const log = logged(
      [],
      (to) => to.error({ scope: { user: said }, tool: "\u009bx", error: new Error(said) }, said),
      "console",
    );
    expect(log).toContain("a\\u001b[2J\\u009b31m\\u001b]0;title\\u0007\\u202eb\\u000dc\\u007f");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is left but the ends of lines
    expect(log.replaceAll("\n", "")).not.toMatch(/[\0-\x1f\x7f-\x9f\u202e]/);
  });
});
