import {
  AppError,
  type CreateSession,
  isAppError,
  type Scope,
  type Session,
  type UpdateSession,
  type WorkspaceIsolation,
} from "@cognition/contract";
import type { SessionFilter, SessionPatch, Storage } from "@cognition/thread";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import { keepChat } from "../chat/chat-metadata.ts";
import type { ModelRegistry } from "../model/model-registry.ts";
import type { RunEngine } from "../run/run-engine.ts";
import type { Sandboxes, SandboxFiles } from "../sandbox/sandbox.ts";
import type { Workspaces } from "../timeline/workspace/workspaces.ts";
import type { DeletedFolders } from "./deleted-folders.ts";
import { makeOnce } from "./make-once.ts";
import { mergedConfig, namesAModel, releaseProvider } from "./session-config.ts";
import { sessionNotFound } from "./while-there.ts";
import {
  makeFolder,
  makeSessionFolder,
  ownsFolder,
  presentSession,
  useGivenFolder,
  workspaceOf,
} from "./workspace-folder.ts";

export interface SessionsOptions {
  readonly storage: Storage;
  readonly agents: Pick<AgentRegistry, "findForSession">;
  readonly models: Pick<ModelRegistry, "select">;
  readonly sandboxes: Pick<Sandboxes, "open">;
  readonly engine: Pick<RunEngine, "abort" | "active">;
  readonly workspace_root: string;
  readonly isolation: WorkspaceIsolation;
  /** Whether every request has a scope; see `folderFor`. */
  readonly scoping: boolean;
  readonly workspaces: Pick<Workspaces, "settle" | "change">;
  readonly deletedFolders: Pick<DeletedFolders, "clear">;
}

/** Sessions as callers see them, with the folder each works in. A scope sees its own; others are not found. */
export interface Sessions {
  /** With an id, what an earlier try made under it is the answer too. */
  create(session: CreateSession, scope?: Scope, id?: string): Promise<Session>;
  /** In the folder of another session, whoever chose it; where that has one of its own, so has this one. */
  createBeside(session_id: string, session: CreateSession, scope?: Scope): Promise<Session>;
  get(session_id: string, scope?: Scope): Promise<Session>;
  /** A page, newest first, from an offset on or with those made before a session; and how many there are in all. */
  list(
    filter: SessionFilter,
    page: { limit: number; offset?: number; before?: string },
  ): Promise<{ found: Session[]; total: number }>;
  update(session_id: string, patch: UpdateSession, scope?: Scope): Promise<Session>;
  /** Stops what runs, then removes what is stored, the container, and the folder if the server made it. */
  delete(session_id: string, scope?: Scope): Promise<void>;
  openFiles(session_id: string, scope?: Scope): Promise<SandboxFiles>;
  /**
   * Does it to the session's files. In a folder of its own that is for every node to see, and `session_busy` while a run is
   * at work on them elsewhere.
   */
  changeFiles(
    session_id: string,
    scope: Scope | undefined,
    work: (files: SandboxFiles) => Promise<unknown>,
  ): Promise<void>;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { storage, agents, models, sandboxes, workspace_root: root } = options;

  async function find(session_id: string, scope?: Scope): Promise<Session> {
    return (await storage.getSession(session_id, scope)) ?? notFound(session_id);
  }

  async function filesOf(session: Session): Promise<SandboxFiles> {
    return (await sandboxes.open(session.id, await makeFolder(storage, root, session))).files;
  }

  /** A run has begun while its files were being changed. On this node it takes in what its folder holds; and so it may have done already. */
  async function leaveToRun(session_id: string, scope: Scope | undefined, error: unknown): Promise<void> {
    if (!isAppError(error, "session_busy")) throw error;
    const session = await find(session_id, scope);
    if (!(await isAtWorkHere(options, session, UNSTORED))) await options.workspaces.change(session, async () => {});
  }

  type FindFolder = (given: string | undefined) => Promise<string | null>;

  async function make(asked: CreateSession, scope: Scope, findFolder: FindFolder, id?: string): Promise<Session> {
    const { idempotency_key: _, workspace_path: given, ...fields } = asked;
    await agents.findForSession(fields.agent_name, scope);
    if (namesAModel(fields.config)) await models.select({ session: fields.config, scope });
    const workspace_path = await findFolder(given);
    const wanted = { ...fields, workspace_path, scopes: scope, ...(id !== undefined && { id }) };
    const session = await makeOnce(
      id,
      () => storage.createSession(wanted),
      (made) => find(made, scope),
    );
    makeSessionFolder(workspaceOf(root, session));
    return presentSession(root, session);
  }

  async function update(session_id: string, patch: UpdateSession, scope?: Scope): Promise<Session> {
    const session = await find(session_id, scope);
    if (patch.agent_name !== undefined) await agents.findForSession(patch.agent_name, session.scopes);
    if (patch.status !== undefined) refuseWhileWaiting(session);
    const config = patch.config && releaseProvider(patch.config);
    if (config && namesAModel(config)) {
      await models.select({ session: mergedConfig(session.config, config), scope: session.scopes });
    }
    const metadata = patch.metadata && keepChat(patch.metadata, session.metadata);
    const change = { ...patch, ...(config && { config }), ...(metadata && { metadata }) } as SessionPatch;
    return presentSession(root, (await storage.updateSession(session_id, change, scope)) ?? notFound(session_id));
  }

  return {
    create: (asked, scope = {}, id) => make(asked, scope, (given) => folderFor(options, scope, given), id),
    createBeside: (session_id, asked, scope = {}) =>
      make(asked, scope, async () => (await find(session_id, scope)).workspace_path),
    update,
    get: async (session_id, scope) => presentSession(root, await find(session_id, scope)),
    async list(filter, page) {
      const listed = storage.listSessions({ ...filter, ...page });
      const [found, total] = await Promise.all([listed, storage.countSessions(filter)]);
      return { found: found.map((session) => presentSession(root, session)), total };
    },
    async delete(session_id, scope) {
      const session = await find(session_id, scope);
      await options.engine.abort(session_id);
      if (!(await storage.deleteSession(session_id, scope))) notFound(session_id);
      await options.deletedFolders.clear(session);
    },
    async openFiles(session_id, scope) {
      const session = await find(session_id, scope);
      const files = await filesOf(session);
      // Finishes what a rewind has begun, before anybody sees them.
      await options.workspaces.settle(session, false);
      return files;
    },
    async changeFiles(session_id, scope, work) {
      const session = await find(session_id, scope);
      const files = await filesOf(session);
      // A run on this node takes in what is done to its folder. One that is not its own is everybody's, whoever works in it.
      if (ownsFolder(session) && (await isAtWorkHere(options, session, "nothing was changed"))) await work(files);
      else {
        const changed = options.workspaces.change(session, () => work(files));
        await changed.catch((error) => leaveToRun(session_id, scope, error));
      }
    },
  };
}

const UNSTORED = "what was changed is not stored";

/** Refuses, and says what has come of it, where a run is at work on another node. */
async function isAtWorkHere({ engine, storage }: SessionsOptions, session: Session, became: string): Promise<boolean> {
  const { active_run_id } = session;
  if (active_run_id === null) return false;
  if (engine.active.includes(active_run_id)) return true;
  if ((await storage.getRun(active_run_id)).status === "running")
    throw workedOnElsewhere(session.id, active_run_id, became);
  return false; // it waits: for its turn, or for a human
}

function workedOnElsewhere(session_id: string, run_id: string, became: string): AppError {
  const message = `Session ${session_id} is busy with run ${run_id} on another node; ${became}. Send it again when that has ended.`;
  return new AppError("session_busy", message, { details: { run_id } });
}

/**
 * Null for a folder of its own, which the server makes and removes. Whoever has a scope must not choose a folder, with
 * scoping on or off: it could be another's, or the root, in which all of them are.
 */
async function folderFor(options: SessionsOptions, scope: Scope, given: string | undefined): Promise<string | null> {
  if (given === undefined) return options.isolation === "shared" ? "." : null;
  const apart = options.scoping || Object.keys(scope).length > 0;
  if (!apart) return useGivenFolder(options.workspace_root, given);
  const message = "The sessions of a scope each work in a folder of their own; leave workspace_path out";
  throw new AppError("workspace_path_refused", message);
}

function refuseWhileWaiting({ id, status, active_run_id }: Session): void {
  if (status !== "waiting_for_approval") return;
  const message = `Session ${id} waits for a human; its status stays. Answer or abort run ${active_run_id} first.`;
  throw new AppError("waiting_for_approval", message, { details: { run_id: active_run_id } });
}

function notFound(session_id: string): never {
  throw sessionNotFound(session_id);
}
