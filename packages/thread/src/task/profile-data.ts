import type { Profile, UpdateProfile } from "@cognition/contract";
import { type Entries, entryList, sameJson, textList } from "./bounded.ts";

export const MAX_GOALS = 10;
export const MAX_EXPERTISE_AREAS = 15;
export const MAX_PROJECTS = 10;

/** A profile as it is stored: what a back end keeps as JSON and gives back unchanged. */
export interface ProfileData {
  readonly preferences: Entries<unknown>;
  readonly goals: readonly string[];
  readonly expertise_areas: readonly string[];
  readonly communication_style: string;
  readonly projects: Entries<string>;
}

export interface StoredProfile {
  readonly user_id: string;
  readonly data: ProfileData;
  readonly created_at: string;
  readonly last_updated: string;
}

export const EMPTY_PROFILE: ProfileData = {
  preferences: [],
  goals: [],
  expertise_areas: [],
  communication_style: "",
  projects: [],
};

export function toProfile({ user_id, data, created_at, last_updated }: StoredProfile): Profile {
  return {
    user_id,
    preferences: Object.fromEntries(data.preferences),
    goals: [...data.goals],
    expertise_areas: [...data.expertise_areas],
    communication_style: data.communication_style,
    projects: Object.fromEntries(data.projects),
    created_at,
    last_updated,
  };
}

/** Each field that is given replaces that field, within its bound; the same object when nothing is another. */
export function patchProfile(data: ProfileData, patch: UpdateProfile): ProfileData {
  const { preferences, goals, expertise_areas, communication_style, projects } = patch;
  const patched = {
    preferences: preferences ? entryList(preferences) : data.preferences,
    goals: goals ? textList(goals, MAX_GOALS) : data.goals,
    expertise_areas: expertise_areas ? textList(expertise_areas, MAX_EXPERTISE_AREAS) : data.expertise_areas,
    communication_style: communication_style?.trim() ?? data.communication_style,
    projects: projects ? entryList(projects, MAX_PROJECTS) : data.projects,
  };
  return sameJson(patched, data) ? data : patched;
}
