import { expect, it } from "vitest";
import { jsonResponse } from "../../src/http/reply.ts";

it("an answer longer than a text can be is a limit that the caller can stay below, and no failure of the server", () => {
  // As long as it gets, for the memory's sake by reference: each of them is written anew.
  const row = "x".repeat(2 ** 28);
  const refused = expect.objectContaining({ code: "limit_exceeded", message: expect.stringContaining("lower limit") });
  expect(() => jsonResponse({ status: 200, body: [row, row, row] })).toThrow(refused);
});
