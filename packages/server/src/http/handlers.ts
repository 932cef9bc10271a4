import type { Handlers } from "./handler.ts";
import { type AgentRoutes, agentRoutes } from "./routes/agents.ts";
import { type ApprovalRoutes, approvalRoutes } from "./routes/approvals.ts";
import { type ArtifactRoutes, artifactRoutes } from "./routes/artifacts.ts";
import { type BudgetRoutes, budgetRoutes } from "./routes/budgets.ts";
import { type ChatRoutes, chatRoutes } from "./routes/chats.ts";
import { type DeliveryRoutes, deliveryRoutes } from "./routes/deliveries.ts";
import { type FileRoutes, fileRoutes } from "./routes/files.ts";
import { type HealthRoutes, healthRoutes } from "./routes/health.ts";
import { type MessageRoutes, messageRoutes } from "./routes/messages.ts";
import { type MetricRoutes, metricRoutes } from "./routes/metrics.ts";
import { type ModelRoutes, modelRoutes } from "./routes/models.ts";
import { type OpenApiRoutes, openApiRoutes } from "./routes/openapi.ts";
import { type ProfileRoutes, profileRoutes } from "./routes/profiles.ts";
import { type ProviderRoutes, providerRoutes } from "./routes/providers.ts";
import { type RunRoutes, runRoutes } from "./routes/runs.ts";
import { type SessionRoutes, sessionRoutes } from "./routes/sessions.ts";
import { type SkillRoutes, skillRoutes } from "./routes/skills.ts";
import { type StoreRoutes, storeRoutes } from "./routes/store.ts";
import { type TaskRoutes, taskRoutes } from "./routes/tasks.ts";
import { type TimelineRoutes, timelineRoutes } from "./routes/timeline.ts";
import { type ToolRoutes, toolRoutes } from "./routes/tools.ts";
import { type UsageRoutes, usageRoutes } from "./routes/usage.ts";

/** All that the routes need; what stands for the same thing has the same name in each of them. */
export type HandlerParts = SessionRoutes &
  MessageRoutes &
  RunRoutes &
  ApprovalRoutes &
  FileRoutes &
  TimelineRoutes &
  ArtifactRoutes &
  StoreRoutes &
  ProfileRoutes &
  TaskRoutes &
  ChatRoutes &
  AgentRoutes &
  SkillRoutes &
  ToolRoutes &
  ModelRoutes &
  ProviderRoutes &
  DeliveryRoutes &
  UsageRoutes &
  BudgetRoutes &
  HealthRoutes &
  MetricRoutes &
  OpenApiRoutes;

export function createHandlers(parts: HandlerParts): Handlers {
  return {
    ...sessionRoutes(parts),
    ...messageRoutes(parts),
    ...runRoutes(parts),
    ...approvalRoutes(parts),
    ...fileRoutes(parts),
    ...timelineRoutes(parts),
    ...artifactRoutes(parts),
    ...storeRoutes(parts),
    ...profileRoutes(parts),
    ...taskRoutes(parts),
    ...chatRoutes(parts),
    ...agentRoutes(parts),
    ...skillRoutes(parts),
    ...toolRoutes(parts),
    ...modelRoutes(parts),
    ...providerRoutes(parts),
    ...deliveryRoutes(parts),
    ...usageRoutes(parts),
    ...budgetRoutes(parts),
    ...healthRoutes(parts),
    ...metricRoutes(parts),
    ...openApiRoutes(parts),
  };
}
