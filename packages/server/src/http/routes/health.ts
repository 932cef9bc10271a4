import type { Health } from "@cognition/contract";
import type { Storage, StorageHealth } from "@cognition/thread";
import { answerWithin } from "../../answer-within.ts";
import type { ModelRegistry } from "../../model/model-registry.ts";
import type { RunEngine } from "../../run/run-engine.ts";
import type { Sandboxes } from "../../sandbox/sandbox.ts";
import type { Handlers } from "../handler.ts";

export interface HealthRoutes {
  readonly storage: Storage;
  readonly engine: Pick<RunEngine, "active" | "draining">;
  readonly models: Pick<ModelRegistry, "circuitBreakers">;
  readonly sandboxes: Pick<Sandboxes, "describe">;
  readonly version: string;
  /** What whoever runs the server should know of how it is set up. */
  readonly warnings: readonly string[];
  /** What is wrong with definitions, tool files and MCP servers now. */
  readonly problems: () => Promise<readonly { readonly message: string }[]>;
  /** When the server began, by `performance.now()`. */
  readonly started: number;
}

export function healthRoutes(options: HealthRoutes): Pick<Handlers, "getHealth" | "getReadiness"> {
  const { storage, engine } = options;
  return {
    getHealth: ({ admin }) => describe(options, admin),
    getReadiness: async () => {
      const { ok } = await checkStorage(storage);
      const reasons = [
        // Its own words may name its host or its file; /health tells them to an administrator.
        ...(ok ? [] : [NO_STORAGE]),
        ...(engine.draining ? ["This node is shutting down"] : []),
      ];
      if (reasons.length === 0) return { ready: true, reasons };
      return Response.json({ ready: false, reasons }, { status: 503, headers: { "Retry-After": "5" } });
    },
  };
}

const NO_STORAGE = "The storage does not do its work";

/** Below what probes wait for: a storage that hangs, or has no connection left, is told as the reason it is. */
const ANSWER_WITHIN_MS = 2_500;

type Answer = Pick<StorageHealth, "ok" | "error" | "latency_ms">;

function checkStorage(storage: Storage): Promise<Answer> {
  const error = `no answer within ${ANSWER_WITHIN_MS} ms`;
  const unanswered = () => ({ ok: false, latency_ms: ANSWER_WITHIN_MS, error });
  return answerWithin<Answer>(ANSWER_WITHIN_MS, storage.healthCheck(), unanswered);
}

async function describe(options: HealthRoutes, admin: boolean): Promise<Health> {
  const { storage, models, sandboxes, version, started } = options;
  const { ok, latency_ms, error } = await checkStorage(storage);
  // Which providers there are only the storage knows.
  const breakers = ok ? await models.circuitBreakers() : {};
  const sandbox = sandboxes.describe();
  const circuit_breakers = { ...breakers, ...sandbox.circuit_breakers };
  const failing = Object.values(circuit_breakers).some(({ state }) => state === "open");
  return {
    status: ok ? (failing ? "degraded" : "ok") : "unhealthy",
    version,
    uptime_s: Math.round(performance.now() - started) / 1000,
    storage: { backend: storage.backend, ok, latency_ms: ok ? latency_ms : null },
    sandbox: { backend: sandbox.backend, ok: true },
    ...(admin && (await tellAdmin(options, ok, error))),
    circuit_breakers,
  };
}

type ForAdmin = Pick<Health, "active_runs" | "sessions" | "warnings">;

/** What tells of everybody's work, or of where the setup is weak. */
async function tellAdmin(
  { storage, engine, warnings, problems }: HealthRoutes,
  ok: boolean,
  error: string | undefined,
): Promise<ForAdmin> {
  return {
    active_runs: engine.active.length,
    sessions: ok ? await storage.countSessions() : 0,
    warnings: [
      ...(ok ? [] : [`${NO_STORAGE}: ${error}`]),
      ...warnings,
      // Some of the definitions are in the storage.
      ...(ok ? await problems() : []).map(({ message }) => message),
    ],
  };
}
