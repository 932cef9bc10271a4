import { AppError, isAppError } from "@cognition/contract";

class DamagedRow extends AppError {
  readonly id: string;

  constructor(id: string, { message, cause }: AppError) {
    super("corrupt_data", message, { cause });
    this.id = id;
  }
}

/** What a row says; one that can't be read is named, so that it can be passed over. */
export function readRow<T>(id: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isAppError(error, "corrupt_data") ? new DamagedRow(id, error) : error;
  }
}

/**
 * Claims what is first in line and can be read. One damaged row would keep all that come after it waiting for ever, whosever
 * they are. It is told where there is nothing else.
 */
export async function claimReadable<T>(
  claim: (damaged: readonly string[]) => Promise<T>,
  isNone: (claimed: T) => boolean,
): Promise<T> {
  const damaged: DamagedRow[] = [];
  for (;;) {
    const claimed = await claim(damaged.map(({ id }) => id)).catch((error: unknown) => {
      if (!(error instanceof DamagedRow)) throw error;
      damaged.push(error);
      return undefined;
    });
    if (claimed === undefined) continue;
    if (isNone(claimed) && damaged[0]) throw damaged[0];
    return claimed;
  }
}

/** Of work on many rows, one after the other: what can't be read keeps no other from its turn, and is told when all had theirs. */
export class Damage {
  #first: unknown;

  /** Undefined where a row of it is damaged. */
  async pass<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (!isAppError(error, "corrupt_data")) throw error;
      this.#first ??= error;
      return undefined;
    }
  }

  tell(): void {
    if (this.#first !== undefined) throw this.#first;
  }
}
