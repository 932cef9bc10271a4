import type { Handlers } from "./handler.ts";
import { type ApprovalRoutes, approvalRoutes } from "./routes/approvals.ts";
import { type ArtifactRoutes, artifactRoutes } from "./routes/artifacts.ts";
import { type ChatRoutes, chatRoutes } from "./routes/chats.ts";
import { type FileRoutes, fileRoutes } from "./routes/files.ts";
import { type HealthRoutes, healthRoutes } from "./routes/health.ts";
import { type MessageRoutes, messageRoutes } from "./routes/messages.ts";
import { type OpenApiRoutes, openApiRoutes } from "./routes/openapi.ts";
import { type ProfileRoutes, profileRoutes } from "./routes/profiles.ts";
import { type RunRoutes, runRoutes } from "./routes/runs.ts";
import { type SessionRoutes, sessionRoutes } from "./routes/sessions.ts";
import { type StoreRoutes, storeRoutes } from "./routes/store.ts";
import { type TaskRoutes, taskRoutes } from "./routes/tasks.ts";
import { type TimelineRoutes, timelineRoutes } from "./routes/timeline.ts";

/** All that the routes need; what stands for the same thing has the same name in each of them. */
export type HandlerParts = SessionRoutes &
  MessageRoutes &
  RunRoutes &
  ApprovalRoutes &
  FileRoutes &
  HealthRoutes &
  OpenApiRoutes &
  ArtifactRoutes &
  StoreRoutes &
  ProfileRoutes &
  TaskRoutes &
  TimelineRoutes &
  ChatRoutes;

export function createHandlers(parts: HandlerParts): Partial<Handlers> {
  return {
    ...sessionRoutes(parts),
    ...messageRoutes(parts),
    ...runRoutes(parts),
    ...approvalRoutes(parts),
    ...fileRoutes(parts),
    ...healthRoutes(parts),
    ...openApiRoutes(parts),
    ...artifactRoutes(parts),
    ...storeRoutes(parts),
    ...profileRoutes(parts),
    ...taskRoutes(parts),
    ...timelineRoutes(parts),
    ...chatRoutes(parts),
  };
}
