import { expect, it } from "vitest";
import { startTestServer } from "./test-server.ts";

it("a HEAD of a stream opens none that would stay open", async () => {
  const at = await startTestServer();
  const { id } = await at.createSession();
  const headers = { Accept: "text/event-stream" };
  const response = await at.fetch(`/sessions/${id}/events`, { method: "HEAD", headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toMatch(/^text\/event-stream/);
  expect(at.server.runtime.http.streams.open).toBe(0);
});
