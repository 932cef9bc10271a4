import { AppError } from "@cognition/contract";
import { expect, it } from "vitest";
import { createSessions, type SessionsOptions } from "../../src/session/sessions.ts";
import { dataOf, eventsOf, send, startRuntime } from "../runtime/started-runtime.ts";

it("a file that is written while a run begins here is the run's too, and nobody is told that it is not", async () => {
  const started = await startRuntime({ session: { workspace_path: null } });
  const { runtime, session } = started;
  let run_id = "";
  await runtime.sessions.changeFiles(session.id, undefined, async (files) => {
    await files.write("notes.txt", "from outside");
    run_id = await send(started, "Read notes.txt");
    await expect.poll(() => runtime.engine.active).toEqual([run_id]);
  });
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "tool_result")).toMatchObject([{ output: expect.stringContaining("from outside") }]);
});

it("and where that run has ended by then, the files are stored after it", async () => {
  const { runtime, storage, session, root } = await startRuntime();
  const stored: string[] = [];
  const change = async (_session: unknown, work: () => Promise<unknown>) => {
    stored.push(String(await work()));
    if (stored.length === 1) throw new AppError("session_busy", "a run is at work");
  };
  const rest = { isolation: "session", scoping: false, deletedFolders: { clear: async () => {} } } as const;
  const workspaces = { change, settle: async () => {} } as unknown as SessionsOptions["workspaces"];
  const sessions = createSessions({ ...runtime, ...rest, storage, workspaces, workspace_root: root });
  await sessions.changeFiles(session.id, undefined, async () => "written");
  expect(stored).toEqual(["written", "undefined"]);
});

it("and where that run is another node's, the answer does not say that nothing was changed", async () => {
  const { runtime, storage, session, root } = await startRuntime({ session: { workspace_path: null } });
  let active_run_id: string | null = null;
  const change = async (_session: unknown, work: () => Promise<unknown>) => {
    await work();
    active_run_id = "of another node";
    throw new AppError("session_busy", "a run is at work");
  };
  const running = {
    getSession: async () => ({ ...session, active_run_id }),
    getRun: async () => ({ status: "running" }),
  };
  const rest = { isolation: "session", scoping: false, deletedFolders: { clear: async () => {} } } as const;
  const workspaces = { change, settle: async () => {} } as unknown as SessionsOptions["workspaces"];
  const given = { ...runtime, ...rest, storage: { ...storage, ...running } as unknown as typeof storage, workspaces };
  const { changeFiles } = createSessions({ ...given, workspace_root: root });
  await expect(changeFiles(session.id, undefined, async () => {})).rejects.toThrow("what was changed is not stored");
  // The next one is told before anything is done.
  await expect(changeFiles(session.id, undefined, async () => {})).rejects.toThrow("nothing was changed");
});
