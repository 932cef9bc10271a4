import { type Agent, DecisionType } from "@cognition/contract";
import type { ApprovalRule } from "./agent-definition.ts";

/** The tools that wait for a human, with what he may decide. `true` is every decision; `false` leaves the tool out. */
export function approvalRules(interruptOn: Agent["interrupt_on"]): ReadonlyMap<string, ApprovalRule> {
  const rules = Object.entries(interruptOn).flatMap(([tool, rule]): [string, ApprovalRule][] => {
    if (rule === false) return [];
    if (rule === true) return [[tool, { allowed_decisions: DecisionType.options }]];
    const { allowed_decisions, description } = rule;
    const once = [...new Set(allowed_decisions)];
    return [[tool, { allowed_decisions: once, ...(description !== undefined && { description }) }]];
  });
  return new Map(rules);
}
