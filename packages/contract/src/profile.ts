import { z } from "zod";
import { JsonObject, JsonObjectInput, smallRecord } from "./json.ts";
import { MAX_ID_LENGTH, MAX_LIST_ITEMS, MAX_TEXT_LENGTH, MAX_TITLE_LENGTH } from "./limits.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

export const DEFAULT_USER_ID = "default";
export const UserId = text("user_id", MAX_ID_LENGTH, 1);
export type UserId = z.infer<typeof UserId>;

/** Who a user is, across all tasks and sessions. */
export const Profile = z.strictObject({
  user_id: z.string(),
  preferences: JsonObject,
  goals: z.array(z.string()),
  expertise_areas: z.array(z.string()),
  communication_style: z.string(),
  projects: z.record(z.string(), z.string()),
  created_at: Timestamp,
  last_updated: Timestamp,
});
export type Profile = z.infer<typeof Profile>;

const projects = z.record(text("project name", MAX_TITLE_LENGTH, 1), text("project", MAX_TEXT_LENGTH));

const fields = {
  preferences: JsonObjectInput,
  goals: z.array(text("goal", MAX_TEXT_LENGTH)).max(MAX_LIST_ITEMS),
  expertise_areas: z.array(text("expertise area", MAX_TEXT_LENGTH)).max(MAX_LIST_ITEMS),
  communication_style: text("communication_style", MAX_TEXT_LENGTH),
  projects: smallRecord("projects", MAX_LIST_ITEMS, "entries", projects),
};

export const ReplaceProfile = z.strictObject({
  preferences: fields.preferences.default({}),
  goals: fields.goals.default([]),
  expertise_areas: fields.expertise_areas.default([]),
  communication_style: fields.communication_style.default(""),
  projects: fields.projects.prefault({}),
});
export type ReplaceProfile = z.infer<typeof ReplaceProfile>;
export type ReplaceProfileInput = z.input<typeof ReplaceProfile>;

/** A field that is given replaces that field. */
export const UpdateProfile = z.strictObject(fields).partial();
export type UpdateProfile = z.infer<typeof UpdateProfile>;
