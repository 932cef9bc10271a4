import type { Handlers } from "./handler.ts";
import { type ApprovalRoutes, approvalRoutes } from "./routes/approvals.ts";
import { type FileRoutes, fileRoutes } from "./routes/files.ts";
import { type HealthRoutes, healthRoutes } from "./routes/health.ts";
import { type MessageRoutes, messageRoutes } from "./routes/messages.ts";
import { type RunRoutes, runRoutes } from "./routes/runs.ts";
import { type SessionRoutes, sessionRoutes } from "./routes/sessions.ts";

/** All that the routes need; what stands for the same thing has the same name in each of them. */
export type HandlerParts = SessionRoutes & MessageRoutes & RunRoutes & ApprovalRoutes & FileRoutes & HealthRoutes;

export function createHandlers(parts: HandlerParts): Partial<Handlers> {
  return {
    ...sessionRoutes(parts),
    ...messageRoutes(parts),
    ...runRoutes(parts),
    ...approvalRoutes(parts),
    ...fileRoutes(parts),
    ...healthRoutes(parts),
  };
}
