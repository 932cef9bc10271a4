import { describe, expect, it } from "vitest";
import { idsOf, namesOf, readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

describe("POST messages", () => {
  it("streams the run, with its place, and ends with it", async () => {
    const { fetch, createSession, storage, faults } = await startTestServer();
    const session = await createSession();
    const response = await fetch(`/sessions/${session.id}/messages`, { method: "POST", json: { content: "Hello" } });
    expect(response.status).toBe(200);
    const [run] = await storage.listRuns(session.id);
    expect(response.headers.get("Content-Location")).toBe(`/sessions/${session.id}/runs/${run?.id}`);
    expect(response.headers.get("Cache-Control")).toBe("no-cache");
    expect(response.headers.get("X-Accel-Buffering")).toBe("no");
    const events = await readEvents(response);
    expect(namesOf(events).slice(0, 2)).toEqual(["status", "status"]);
    expect(events.at(-1)).toMatchObject({ event: "done", data: { status: "succeeded" } });
    expect(idsOf(events)).toEqual(events.map((_, index) => index + 1));
    const log = (await storage.readEvents({ session_id: session.id, limit: 1000 })).events;
    expect(events.map(({ data }) => data)).toEqual(log.map(({ data }) => data));
    expect(faults).toEqual([]);
  });
});
