import { opendirSync } from "node:fs";

/** Whether nothing is in it but what is named. Looks at no more entries than that takes, however many there are. */
export function isEmptyFolder(folder: string, butFor?: string): boolean {
  const entries = opendirSync(folder);
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) if (entry.name !== butFor) return false;
    return true;
  } finally {
    entries.closeSync();
  }
}
