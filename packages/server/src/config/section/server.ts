import {
  DEFAULT_MAX_BODY_BYTES,
  LogFormat,
  LogLevel,
  MAX_LEASE_MS,
  ScopeKey,
  WorkspaceIsolation,
} from "@cognition/contract";
import { z } from "zod";
import { SNAPSHOT_LIMITS } from "../../timeline/workspace/snapshot-limits.ts";
import { decimal, oneOf, onOff, option, section, wholeNumber, words } from "../option.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

export const ServerSection = section({
  host: option(words("a host name or address").default("127.0.0.1"), {
    description: "The address to listen on.",
    env: "COGNITION_HOST",
  }),
  port: option(wholeNumber(0, 65_535).default(8000), {
    description: "The port to listen on; 0 for any free one.",
    env: "COGNITION_PORT",
  }),
  hosts: option(z.array(z.string(), { error: "must be a list of host names" }).default([]), {
    description:
      "Names by which this server is reached, besides addresses and localhost; a request for another is refused. `*` for any.",
  }),
  trusted_proxies: option(z.array(z.string(), { error: "must be a list of addresses" }).default([]), {
    description:
      "Proxies whose `X-Forwarded-For` is believed, as addresses or ranges (`10.0.0.0/8`). Wrong credentials are counted for each client then, not for the proxy, and the log names the client.",
  }),
  body_limit: option(wholeNumber(1024, GIB).default(DEFAULT_MAX_BODY_BYTES), {
    description:
      "Bytes that a request's body may have; of JSON, one value for each 64 of them. Below 16 MiB a message, file or artifact of the size its own limit allows may not fit.",
  }),
  header_limit: option(wholeNumber(4096, MIB).default(16 * 1024), {
    description: "Bytes that the headers of a request may have, all together.",
  }),
  page: option(onOff().default(true), {
    description:
      "A page to chat on, at `/`, for whoever opens the address in a browser; without it they are led to `/docs`.",
  }),
});

export const WorkspaceSection = section({
  root: option(words("a path").default("."), {
    description:
      "Where `.cognition/` is read from and where sessions have their folders. Relative to the current directory; in a file, to the folder that holds its `.cognition`.",
  }),
  isolation: option(oneOf(WorkspaceIsolation.options as ["session", "shared"]).default("session"), {
    description:
      "`session`: each session has a folder of its own under the root. `shared`: all work in the root itself.",
  }),
  snapshot_quota: option(wholeNumber(0, Number.MAX_SAFE_INTEGER).default(SNAPSHOT_LIMITS.quota_bytes), {
    description:
      "Bytes that the snapshots of one scope's files may take; the files of the oldest checkpoints go first.",
  }),
  snapshot_max_file: option(wholeNumber(0, GIB).default(SNAPSHOT_LIMITS.max_file_bytes), {
    description: "Files of more bytes are not part of snapshots.",
  }),
  snapshot_exclude: option(
    z.array(z.string().min(1), { error: "must be a list of names or patterns" }).default([...SNAPSHOT_LIMITS.exclude]),
    {
      description:
        "What is not part of snapshots at any depth, as lines of a `.gitignore`; a workspace's own `.gitignore` goes over it.",
    },
  ),
});

export const LogSection = section({
  level: option(oneOf(LogLevel.options as ["debug", "info", "warn", "error"]).default("info"), {
    description: "The least severe messages that are logged.",
  }),
  format: option(oneOf(LogFormat.options as ["console", "json"]).optional(), {
    description: "How log lines look.",
    unset: "console on a terminal, json elsewhere",
  }),
});

export const SseSection = section({
  retry_interval: option(wholeNumber(1, 3_600_000).default(3000), {
    description: "Milliseconds after which a client is told to reconnect.",
  }),
  heartbeat_interval: option(decimal(0.1, 3600).default(15), {
    description: "Seconds of silence before a comment is sent, so that proxies keep the connection.",
  }),
  buffer_size: option(wholeNumber(0, 1_000_000).default(100), {
    description: "Recent events of each session that a node keeps in memory; older ones are read from the log.",
  }),
});

export const ScopingSection = section({
  enabled: option(onOff().default(false), {
    description: "Every request must name its scope, and sees nothing else.",
  }),
  keys: option(z.array(ScopeKey, { error: "must be a list of scope keys" }).min(1).default(["user"]), {
    description: "The keys that make up a scope; each is a header `X-Cognition-Scope-<Key>`.",
    env: "COGNITION_SCOPE_KEYS",
  }),
});

export const ChatSection = section({
  backend: option(words("the name of a chat backend").optional(), {
    description: "Where chats are kept: sqlite, postgres, memory, or one that a program registered.",
    aliases: ["TETHER_STORAGE_BACKEND"],
    unset: "the persistence backend",
  }),
});

export const RunsSection = section({
  max_runs: option(wholeNumber(1, 100_000).default(64), { description: "Runs at once on this node." }),
  lease_ms: option(wholeNumber(500, MAX_LEASE_MS).default(4000), {
    description: "After so long without a sign of life from its node, a run is taken over by another.",
  }),
  poll_ms: option(wholeNumber(10, 60_000).default(500), {
    description: "How often a node looks for runs that no wake-up told it of.",
  }),
  drain_ms: option(wholeNumber(0, 3_600_000).default(10_000), {
    description: "At a shutdown, time for running work to reach its next step before it is handed over.",
  }),
});
