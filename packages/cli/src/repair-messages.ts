import type { Storage } from "@cognition/thread";

const PAGE = 100;

/** Makes every session's message rows what its checkpoints say. */
export async function repairMessages(
  storage: Storage,
): Promise<{ sessions: number; messages: number; changed: number }> {
  const total = { sessions: 0, messages: 0, changed: 0 };
  for (let offset = 0; ; offset += PAGE) {
    const page = await storage.listSessions({ limit: PAGE, offset });
    for (const { id } of page) {
      const { checked, repaired, added, removed } = await storage.rebuildMessages(id);
      total.sessions += 1;
      total.messages += checked;
      total.changed += repaired + added + removed;
    }
    if (page.length < PAGE) return total;
  }
}
