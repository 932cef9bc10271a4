import { z } from "zod";
import { AuthSection, CorsSection, RateLimitSection } from "./section/access.ts";
import { AgentsSection } from "./section/agents.ts";
import { ModelsSection } from "./section/models.ts";
import { Persistence } from "./section/persistence.ts";
import { RetentionSection } from "./section/retention.ts";
import { SandboxSection } from "./section/sandbox.ts";
import {
  ChatSection,
  LogSection,
  RunsSection,
  ScopingSection,
  ServerSection,
  SseSection,
  WorkspaceSection,
} from "./section/server.ts";
import { TracesSection } from "./section/telemetry.ts";
import { ToolsSection } from "./section/tools.ts";
import { WebhooksSection } from "./section/webhooks.ts";

/**
 * All there is to configure. A section checks each of its keys alone, since a file may give one and the environment
 * another; what two keys must agree on is checked by `checkTogether`, on the whole. A key that nothing reads must not be here.
 */
export const ConfigSchema = z.strictObject({
  server: ServerSection,
  workspace: WorkspaceSection,
  persistence: Persistence,
  sandbox: SandboxSection,
  scoping: ScopingSection,
  auth: AuthSection,
  cors: CorsSection,
  rate_limit: RateLimitSection,
  sse: SseSection,
  runs: RunsSection,
  retention: RetentionSection,
  models: ModelsSection,
  agents: AgentsSection,
  tools: ToolsSection,
  webhooks: WebhooksSection,
  chat: ChatSection,
  log: LogSection,
  traces: TracesSection,
});

export type Config = z.output<typeof ConfigSchema>;
