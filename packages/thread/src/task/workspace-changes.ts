import { type JsonObject, parseInput, UpdateTaskWorkspace } from "@cognition/contract";
import { checkSerializable } from "../checkpoint/store-value.ts";
import { addText, putEntry } from "./bounded.ts";
import { copyJson } from "./copy-json.ts";
import {
  addThought,
  MAX_FACTS,
  MAX_INSIGHTS,
  MAX_OBSERVATIONS,
  patchWorkspace,
  type WorkspaceData,
} from "./workspace-data.ts";

export type WorkspaceChange = (stored: WorkspaceData) => WorkspaceData;

/** Each checks its input now, and gives what is then done to the workspace that is stored at the time of writing. */
export const workspaceChanges = {
  setObjective: (objective: string) => setText("objective", objective),
  setAssessment: (assessment: string) => setText("assessment", assessment),
  setApproach: (approach: string) => setText("approach", approach),
  addObservation: (observation: string): WorkspaceChange => {
    check({ observations: [observation] });
    return (workspace) =>
      change(workspace, { observations: addText(workspace.observations, observation, MAX_OBSERVATIONS) });
  },
  addInsight: (insight: string): WorkspaceChange => {
    check({ insights: [insight] });
    return (workspace) => change(workspace, { insights: addText(workspace.insights, insight, MAX_INSIGHTS) });
  },
  learnFact: (key: string, value: unknown): WorkspaceChange => {
    checkSerializable(value, "fact");
    const copy = copyJson(value);
    check({ facts: { [key]: copy } });
    return (workspace) => change(workspace, { facts: putEntry(workspace.facts, key, copy, MAX_FACTS) });
  },
  recordThought: (thinking: string, tool_calls: readonly JsonObject[] = []): WorkspaceChange => {
    const thought = { thinking: thinking.trim(), tool_calls, timestamp: new Date().toISOString() };
    check({ thoughts: [thought] });
    const copy = copyJson(thought);
    return (workspace) => (thought.thinking === "" ? workspace : addThought(workspace, copy));
  },
  updateWorkspace: (patch: UpdateTaskWorkspace): WorkspaceChange => {
    const input = copyJson(check(patch));
    return (workspace) => patchWorkspace(workspace, input);
  },
};

function setText(field: "objective" | "assessment" | "approach", text: string): WorkspaceChange {
  check({ [field]: text });
  return (workspace) => change(workspace, { [field]: text.trim() || workspace[field] });
}

function check(patch: UpdateTaskWorkspace): UpdateTaskWorkspace {
  if (patch.facts !== undefined) checkSerializable(patch.facts, "facts");
  if (patch.thoughts !== undefined) checkSerializable(patch.thoughts, "thoughts");
  return parseInput(UpdateTaskWorkspace, patch, "workspace");
}

function change(workspace: WorkspaceData, part: Partial<WorkspaceData>): WorkspaceData {
  const same = Object.entries(part).every(([key, value]) => workspace[key as keyof WorkspaceData] === value);
  return same ? workspace : { ...workspace, ...part };
}
