import { createHash, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;
const PREFIX_BYTES = 5;
/** A fixed beginning, so that scanners of repositories and logs know one when they see it. */
const FORM = /^(cog_[0-9a-f]{10})_[A-Za-z0-9_-]{43}$/;

/** A new key: how it begins, by which it is found and told apart, then 256 random bits. */
export function newApiKey(): { key: string; prefix: string } {
  const prefix = `cog_${randomBytes(PREFIX_BYTES).toString("hex")}`;
  return { key: `${prefix}_${randomBytes(SECRET_BYTES).toString("base64url")}`, prefix };
}

/** How the key begins, or undefined for a text that can't be a key. */
export function findPrefix(text: string): string | undefined {
  return FORM.exec(text)?.[1];
}

/** A plain hash is enough: what has 256 random bits can't be guessed, however fast the guesses are. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
