import { describe, expect, it } from "vitest";
import { checkHttpExposure } from "../../src/http/check-exposure.ts";

const safe = {
  host: "0.0.0.0",
  auth: "api_key",
  anyOrigin: false,
  offlineModel: false,
  allowUnauthenticated: false,
  allowOfflineModel: false,
} as const;

describe("a server that others can reach", () => {
  it("starts with authentication and a real model", () => expect(checkHttpExposure(safe)).toEqual([]));

  it.each(["0.0.0.0", "::", "10.0.0.7", "agents.example.com", "localhost.example.com"])(
    "on %s does not start without authentication unless told",
    (host) => {
      const open = { ...safe, host, auth: "none" } as const;
      const refusal = expect.objectContaining({
        code: "invalid_config",
        message: expect.stringContaining("COGNITION_AUTH_MODE"),
      });
      expect(() => checkHttpExposure(open)).toThrow(refusal);
      expect(checkHttpExposure({ ...open, allowUnauthenticated: true })).toEqual([
        expect.stringContaining("without authentication"),
      ]);
    },
  );

  it("does not start with the offline model unless told", () => {
    const refusal = expect.objectContaining({
      code: "invalid_config",
      message: expect.stringContaining("COGNITION_MODELS_OFFLINE"),
    });
    expect(() => checkHttpExposure({ ...safe, offlineModel: true })).toThrow(refusal);
    expect(checkHttpExposure({ ...safe, offlineModel: true, allowOfflineModel: true })).toEqual([
      expect.stringContaining("offline model"),
    ]);
  });
});

it.each(["127.0.0.1", "127.0.0.53", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"])(
  "on %s nothing has to be asked for",
  (host) => {
    expect(checkHttpExposure({ ...safe, host, auth: "none", offlineModel: true })).toEqual([]);
  },
);

it("warns of every web page that is visited, where all may come and nobody is asked who they are", () => {
  const local = { ...safe, host: "127.0.0.1", anyOrigin: true } as const;
  expect(checkHttpExposure({ ...local, auth: "none" })).toEqual([expect.stringContaining("every origin")]);
  expect(checkHttpExposure(local)).toEqual([]);
});
