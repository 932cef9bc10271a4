import type { JsonObject, TaskWorkspace, UpdateTaskWorkspace } from "@cognition/contract";
import { type Entries, entryList, keepNewest, sameJson, textList } from "./bounded.ts";

export const MAX_OBSERVATIONS = 15;
export const MAX_INSIGHTS = 10;
export const MAX_FACTS = 20;
const MAX_THOUGHTS = 5;

/** A workspace as it is stored: what a back end keeps as JSON and gives back unchanged. */
export interface WorkspaceData {
  readonly objective: string;
  readonly assessment: string;
  readonly approach: string;
  readonly observations: readonly string[];
  readonly insights: readonly string[];
  readonly facts: Entries<unknown>;
  readonly thoughts: readonly JsonObject[];
}

export function newWorkspace(objective: string): WorkspaceData {
  return { objective, assessment: "", approach: "", observations: [], insights: [], facts: [], thoughts: [] };
}

export function toWorkspace(data: WorkspaceData): TaskWorkspace {
  return {
    ...data,
    observations: [...data.observations],
    insights: [...data.insights],
    facts: Object.fromEntries(data.facts),
    thoughts: [...data.thoughts],
  };
}

/** Each field that is given replaces that field, within its bound; the same object when nothing is another. */
export function patchWorkspace(data: WorkspaceData, patch: UpdateTaskWorkspace): WorkspaceData {
  const { observations, insights, facts, thoughts } = patch;
  const patched = {
    objective: patch.objective?.trim() ?? data.objective,
    assessment: patch.assessment?.trim() ?? data.assessment,
    approach: patch.approach?.trim() ?? data.approach,
    observations: observations ? textList(observations, MAX_OBSERVATIONS) : data.observations,
    insights: insights ? textList(insights, MAX_INSIGHTS) : data.insights,
    facts: facts ? entryList(facts, MAX_FACTS) : data.facts,
    thoughts: thoughts ? keepNewest(thoughts, MAX_THOUGHTS) : data.thoughts,
  };
  return sameJson(patched, data) ? data : patched;
}

/** A thought that is kept already, whenever it was had, gives the same workspace. */
export function addThought(data: WorkspaceData, thought: JsonObject): WorkspaceData {
  const { timestamp: _, ...said } = thought;
  const known = data.thoughts.some(({ timestamp: __, ...other }) => sameJson(other, said));
  return known ? data : { ...data, thoughts: keepNewest([...data.thoughts, thought], MAX_THOUGHTS) };
}
