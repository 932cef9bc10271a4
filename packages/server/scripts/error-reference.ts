import { ERROR_CODES, type ErrorCode } from "@cognition/contract";
import { FAILURE_HELP } from "./error-help-failures.ts";
import { REQUEST_HELP } from "./error-help-requests.ts";

/** A code without a line does not compile. */
const HELP: Record<ErrorCode, readonly [when: string, remedy: string]> = { ...REQUEST_HELP, ...FAILURE_HELP };

const INTRODUCTION = `This page is written by \`npm run error-reference\` from the codes of packages/contract/src/error-codes.ts.

An error is \`application/problem+json\` (RFC 9457): \`status\`, \`title\`, a \`detail\` for a person, a \`code\` for a program, \`errors\`
(\`loc\` and \`msg\` of each) where fields are wrong, and \`details\` with what belongs to the code. Codes are never renamed. What another
scope owns is not found, with the same answer as for what does not exist. Runs and callbacks keep the code of what ended them, and the
library and the SDK throw an \`AppError\` with the same codes; some are met only there.`;

/** docs/reference/errors.md */
export function renderErrorReference(): string {
  const statuses = [...new Set(ERROR_CODES.map(({ status }) => status))].sort((a, b) => a - b);
  const tables = statuses.map((status) => `## ${status}\n\n${tableOf(status)}\n`);
  return `# Errors\n\n${INTRODUCTION}\n\n${tables.join("\n")}`;
}

function tableOf(status: number): string {
  const rows = ERROR_CODES.filter((entry) => entry.status === status).map(({ code, title }) => {
    const [when, remedy] = HELP[code];
    return `| \`${code}\` | ${title} | ${when} | ${remedy} |`;
  });
  return ["| code | title | when | what to do |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
