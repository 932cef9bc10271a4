import { z } from "zod";
import { Timestamp } from "./time.ts";

/** `path` is relative to the workspace, with `/` between its parts. */
export const WorkspaceFile = z.strictObject({
  path: z.string(),
  type: z.enum(["file", "directory", "symlink"]),
  size: z.int().nonnegative(),
  modified_at: Timestamp,
});
export type WorkspaceFile = z.infer<typeof WorkspaceFile>;

export const ListFiles = z.strictObject({ archive: z.literal("tar").optional() });
export type ListFiles = z.infer<typeof ListFiles>;

export const FileList = z.strictObject({ files: z.array(WorkspaceFile) });
export type FileList = z.infer<typeof FileList>;

/** `diff` is unified text, null for bytes that are not text or too long to show. */
export const FileChange = z.strictObject({
  path: z.string(),
  change: z.enum(["added", "modified", "deleted"]),
  diff: z.string().nullable().optional(),
});
export type FileChange = z.infer<typeof FileChange>;
