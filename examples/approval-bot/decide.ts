import type { Client } from "@cognition/client";

type Approval = Awaited<ReturnType<Client["listApprovals"]>>["approvals"][number];
type Decision = NonNullable<NonNullable<Parameters<Client["resumeSession"]>[1]>["decisions"]>[number];

/** Programs that only look. One word and plain arguments: whatever a shell would make more of is not on this list. */
const HARMLESS = /^(ls|cat|head|tail|wc|pwd|date|echo)( [\w./ -]*)?$/;

/** The rule of this bot; yours goes here. */
export function decide({ id, tool_name, args }: Approval): Decision {
  const command = String(args?.["command"] ?? "");
  if (tool_name === "execute" && HARMLESS.test(command)) return { id, type: "approve" };
  const message = `The approval bot allows commands that only look, and this is not one of them: ${command || tool_name}`;
  return { id, type: "reject", message };
}
