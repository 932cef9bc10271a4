import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems hand out themselves, so that nobody is given this one before its server takes it. */
const [FIRST, END] = [15_000, 32_000];
const ATTEMPTS = 100;

export async function freePort(): Promise<number> {
  for (let n = 0; n < ATTEMPTS; n++) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
  throw new Error(`of ${ATTEMPTS} ports from ${FIRST} to ${END} none is free`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false; // somebody has it, or nobody may
  }
  probe.close();
  await once(probe, "close");
  return true;
}
