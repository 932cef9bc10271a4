import { AppError } from "@cognition/contract";
import { z } from "zod";

/** No underscore: the name of a tool, `<server>_<tool>`, then tells its server. */
const ServerName = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, {
  error: "must be letters, digits and -, at most 32, beginning with a letter",
});

const CONNECT_TIMEOUT_MS = 10_000;
const CALL_TIMEOUT_MS = 60_000;

/** No request can be sent to such an address, and whoever is told of that would be told the password. */
const NO_PASSWORD = "must not hold a user name or a password; send them in headers, as authorization";

function hasNoPassword(address: string): boolean {
  const url = URL.parse(address);
  return !url || (url.username === "" && url.password === "");
}

/** `command` for a server that is a process, `url` for one over streamable HTTP. */
export const McpServerConfig = z
  .strictObject({
    name: ServerName,
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .refine(hasNoPassword, { error: NO_PASSWORD })
      .optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** For all its tools; otherwise "retry" for those it calls read-only or idempotent, else "never". */
    on_crash: z.enum(["retry", "never", "ask"]).optional(),
    /** For all its tools: the operator's word, which plan mode goes by; the server's own is only a hint. */
    effect: z.enum(["read", "network", "write", "execute"]).optional(),
    /** By the server's own names; all of them if left out. */
    tools: z.array(z.string().min(1)).optional(),
    connect_timeout_ms: z.int().min(100).max(600_000).default(CONNECT_TIMEOUT_MS),
    call_timeout_ms: z.int().min(100).max(3_600_000).default(CALL_TIMEOUT_MS),
  })
  .superRefine(({ command, url, args, env, headers }, ctx) => {
    const fail = (message: string) => ctx.addIssue({ code: "custom", message });
    if ((command === undefined) === (url === undefined)) fail("give either command or url");
    if (command === undefined && (args ?? env)) fail("args and env are for a server with a command");
    if (url === undefined && headers) fail("headers are for a server with a url");
  });
export type McpServerConfig = z.output<typeof McpServerConfig>;
export type McpServerConfigInput = z.input<typeof McpServerConfig>;

/** Throws `invalid_config`, also for two servers of one name. */
export function parseMcpServers(servers: readonly unknown[]): McpServerConfig[] {
  const seen = new Set<string>();
  return servers.map((input, index) => {
    const result = McpServerConfig.safeParse(input);
    if (!result.success) {
      const wrong = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(": "));
      throw new AppError("invalid_config", `MCP server ${nameOf(input) ?? index + 1}: ${wrong.join("; ")}`);
    }
    const { name } = result.data;
    if (seen.has(name.toLowerCase())) throw new AppError("invalid_config", `there are two MCP servers named ${name}`);
    seen.add(name.toLowerCase());
    return result.data;
  });
}

function nameOf(input: unknown): string | undefined {
  const name = typeof input === "object" && input !== null && "name" in input ? input.name : undefined;
  return typeof name === "string" ? name : undefined;
}
