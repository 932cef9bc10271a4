import { Problem } from "@cognition/contract";
import { expect } from "vitest";

/** The problem that a refusal is; fails if it is anything else. */
export async function problemOf(response: Response | Promise<Response>): Promise<Problem> {
  const answer = await response;
  expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
  const problem = Problem.parse(await answer.json());
  expect(problem.status).toBe(answer.status);
  return problem;
}
