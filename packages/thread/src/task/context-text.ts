import type { Profile, TaskWorkspace } from "@cognition/contract";
import type { DeepReadonly } from "./state.ts";
import { estimateTokens } from "./token-estimate.ts";

export interface ContextOptions {
  max_tokens?: number;
  /** A real tokenizer's count, where the model is known. */
  estimate?: (text: string) => number;
}

const USER = "About the user:";
const TASK = "About the task:";

interface Line {
  section: string;
  text: string;
  /** The lower, the sooner it is taken. */
  rank: number;
  place: number;
}

const DEFAULT_MAX_TOKENS = 1_000;
/** Less than this of a line tells a model nothing. */
const MIN_CUT_CHARACTERS = 20;

/**
 * Profile and workspace as text for a prompt, "" if there is nothing to say. The text never counts more than
 * `max_tokens`: what matters most is taken first, of lists the newest, and a line that is too long is cut to the room left.
 */
export function contextText(
  parts: DeepReadonly<{ profile: Profile; workspace?: TaskWorkspace }>,
  { max_tokens = DEFAULT_MAX_TOKENS, estimate = estimateTokens }: ContextOptions = {},
): string {
  const lines = [...profileLines(parts.profile), ...workspaceLines(parts.workspace)];
  lines.forEach((line, place) => {
    line.place = place;
  });
  const fits = (chosen: readonly Line[]) => estimate(render(chosen)) <= max_tokens;
  const chosen: Line[] = [];
  for (const line of lines.toSorted((a, b) => a.rank - b.rank)) {
    if (fits([...chosen, line])) {
      chosen.push(line);
      continue;
    }
    const cut = cutToFit(line, (shorter) => fits([...chosen, shorter]));
    if (!cut) continue;
    chosen.push(cut);
    break;
  }
  return render(chosen);
}

function render(chosen: readonly Line[]): string {
  const inOrder = chosen.toSorted((a, b) => a.place - b.place);
  return [USER, TASK]
    .map((section) => [section, ...inOrder.filter((line) => line.section === section).map(({ text }) => text)])
    .filter((block) => block.length > 1)
    .map((block) => block.join("\n"))
    .join("\n\n");
}

function cutToFit(line: Line, fits: (line: Line) => boolean): Line | undefined {
  let [low, high] = [0, line.text.length];
  const cut = (length: number): Line => ({ ...line, text: `${line.text.slice(0, length).toWellFormed().trimEnd()}…` });
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(cut(middle))) low = middle;
    else high = middle - 1;
  }
  const shorter = cut(low);
  return low >= MIN_CUT_CHARACTERS && fits(shorter) ? shorter : undefined;
}

function profileLines(profile: DeepReadonly<Profile>): Line[] {
  const say = (label: string, texts: readonly string[], rank: number) => newestFirst(USER, label, texts, rank);
  return [
    ...say("Style", [profile.communication_style], 1),
    ...say("Preference", Object.entries(profile.preferences).map(pair), 2),
    ...say("Goal", profile.goals, 2),
    ...say("Expertise", profile.expertise_areas, 3),
    ...say("Project", Object.entries(profile.projects).map(pair), 3),
  ];
}

function workspaceLines(workspace: DeepReadonly<TaskWorkspace> | undefined): Line[] {
  if (!workspace) return [];
  const say = (label: string, texts: readonly string[], rank: number) => newestFirst(TASK, label, texts, rank);
  return [
    ...say("Objective", [workspace.objective], 0),
    ...say("Assessment", [workspace.assessment], 1),
    ...say("Approach", [workspace.approach], 1),
    ...say("Fact", Object.entries(workspace.facts).map(pair), 2),
    ...say("Insight", workspace.insights, 2),
    ...say("Observation", workspace.observations, 3),
    ...say(
      "Thought",
      workspace.thoughts.map(({ thinking }) => `${thinking ?? ""}`),
      4,
    ),
  ];
}

/** Oldest first, as they are read. The newest ranks best and each older one behind it, so that no list keeps others out. */
function newestFirst(section: string, label: string, texts: readonly string[], rank: number): Line[] {
  return texts
    .map((text, index) => ({ section, text, rank: rank + (texts.length - 1 - index), place: 0 }))
    .filter(({ text }) => text !== "")
    .map((line) => ({ ...line, text: `${label}: ${line.text.replace(/\s*\n\s*/g, " ")}` }));
}

function pair([key, value]: [string, unknown]): string {
  return `${key} = ${typeof value === "string" ? value : JSON.stringify(value)}`;
}
