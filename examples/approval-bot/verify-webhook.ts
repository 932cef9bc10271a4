import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A callback that is older was recorded by somebody and is being played back. */
const TOLERANCE_S = 5 * 60;

/** Whether a callback comes from whoever knows the secret, by the rules of https://www.standardwebhooks.com. */
export function isGenuine(secret: string, headers: IncomingHttpHeaders, body: string, now = Date.now()): boolean {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    String(headers[`webhook-${name}`]),
  );
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_S)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  // One signature for each secret that is in use at the time.
  return (signatures ?? "").split(" ").some((signature) => {
    const [version, value = ""] = signature.split(",");
    const given = Buffer.from(value, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
