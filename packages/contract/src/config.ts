import { z } from "zod";

export const PersistenceBackend = z.enum(["sqlite", "postgres", "memory"]);
export type PersistenceBackend = z.infer<typeof PersistenceBackend>;

export const SandboxBackend = z.enum(["local", "bubblewrap", "docker"]);
export type SandboxBackend = z.infer<typeof SandboxBackend>;

export const AuthMode = z.enum(["none", "api_key", "jwt"]);
export type AuthMode = z.infer<typeof AuthMode>;

export const WorkspaceIsolation = z.enum(["session", "shared"]);
export type WorkspaceIsolation = z.infer<typeof WorkspaceIsolation>;

export const LogLevel = z.enum(["debug", "info", "warn", "error"]);
export type LogLevel = z.infer<typeof LogLevel>;

export const LogFormat = z.enum(["console", "json"]);
export type LogFormat = z.infer<typeof LogFormat>;
