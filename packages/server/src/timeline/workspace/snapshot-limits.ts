const MIB = 1024 * 1024;

/** What snapshots leave out, and what they may take, where nobody says otherwise. */
export const SNAPSHOT_LIMITS = {
  max_file_bytes: 10 * MIB,
  quota_bytes: 2 * 1024 * MIB,
  /** What tools install can be installed again, and is often a hundred times larger than what people write. */
  exclude: ["node_modules", ".venv", "__pycache__"],
} as const;
