import { z } from "zod";
import { option, section, wholeNumber } from "../option.ts";

const Secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, {
  error: "must be whsec_ followed by 24 to 64 random bytes in base64, as `openssl rand -base64 32` gives",
});

export const WebhooksSection = section({
  secrets: option(z.array(Secret, { error: "must be a list of secrets" }).default([]), {
    description:
      "What callbacks are signed with (Standard Webhooks). Each signs, so that a new one can stand beside the old while receivers change over; without any, callbacks go out unsigned.",
    secret: true,
  }),
  allow_addresses: option(z.array(z.string().min(1), { error: "must be a list of addresses" }).default([]), {
    description:
      "Addresses besides public ones that callbacks may go to: an address, a range (`10.1.0.0/16`), a host, `host:port`.",
  }),
  timeout_ms: option(wholeNumber(100, 300_000).default(15_000), {
    description: "How long a receiver may take to answer before the attempt has failed.",
  }),
});
