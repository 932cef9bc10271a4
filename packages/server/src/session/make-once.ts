import { isAppError } from "@cognition/contract";

/** Makes a thing under an id that its request's key gave it; what an earlier try made under that id is the answer too. */
export async function makeOnce<T>(
  key_id: string | undefined,
  make: () => Promise<T>,
  find: (id: string) => Promise<T>,
): Promise<T> {
  if (key_id === undefined) return make();
  try {
    return await make();
  } catch (error) {
    if (!isAppError(error, "already_exists")) throw error;
    return find(key_id);
  }
}
