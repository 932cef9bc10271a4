import { parseInput, UpdateProfile } from "@cognition/contract";
import { checkSerializable } from "../checkpoint/store-value.ts";
import { addText, putEntry } from "./bounded.ts";
import { copyJson } from "./copy-json.ts";
import { MAX_EXPERTISE_AREAS, MAX_GOALS, MAX_PROJECTS, type ProfileData, patchProfile } from "./profile-data.ts";

export type ProfileChange = (stored: ProfileData) => ProfileData;

/** Each checks its input now, and gives what is then done to the profile that is stored at the time of writing. */
export const profileChanges = {
  setPreference: (key: string, value: unknown): ProfileChange => {
    checkSerializable(value, "preference");
    const copy = copyJson(value);
    check({ preferences: { [key]: copy } });
    return (profile) => change(profile, { preferences: putEntry(profile.preferences, key, copy) });
  },
  addGoal: (goal: string): ProfileChange => {
    check({ goals: [goal] });
    return (profile) => change(profile, { goals: addText(profile.goals, goal, MAX_GOALS) });
  },
  addExpertise: (area: string): ProfileChange => {
    check({ expertise_areas: [area] });
    return (profile) =>
      change(profile, { expertise_areas: addText(profile.expertise_areas, area, MAX_EXPERTISE_AREAS) });
  },
  setCommunicationStyle: (style: string): ProfileChange => {
    check({ communication_style: style });
    return (profile) => change(profile, { communication_style: style.trim() || profile.communication_style });
  },
  setProject: (name: string, description: string): ProfileChange => {
    if (name.trim() === "") return (profile) => profile;
    check({ projects: { [name]: description } });
    return (profile) =>
      change(profile, { projects: putEntry(profile.projects, name, description.trim(), MAX_PROJECTS) });
  },
  updateProfile: (patch: UpdateProfile): ProfileChange => {
    const input = copyJson(check(patch));
    return (profile) => patchProfile(profile, input);
  },
};

function check(patch: UpdateProfile): UpdateProfile {
  if (patch.preferences !== undefined) checkSerializable(patch.preferences, "preferences");
  return parseInput(UpdateProfile, patch, "profile");
}

function change<K extends keyof ProfileData>(profile: ProfileData, part: Pick<ProfileData, K>): ProfileData {
  const same = Object.entries(part).every(([key, value]) => profile[key as K] === value);
  return same ? profile : { ...profile, ...part };
}
