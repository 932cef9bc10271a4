import { DEFAULT_MAX_OUTPUT_BYTES, SandboxBackend } from "@cognition/contract";
import { z } from "zod";
import { decimal, oneOf, onOff, option, section, wholeNumber, words } from "../option.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

const Docker = section({
  image: option(words("the name of an image").default("cognition-sandbox:latest"), {
    description: "The image that containers are made from.",
    env: "COGNITION_DOCKER_IMAGE",
  }),
  network: option(words("the name of a network").default("none"), {
    description: "The network of containers; `none` for no network at all.",
    env: "COGNITION_DOCKER_NETWORK",
  }),
  memory_limit: option(
    z
      .string({ error: "must be a size like 512m" })
      .regex(/^\d+[bkmg]?$/i, { error: "must be a size like 512m" })
      .default("512m"),
    { description: "Memory of a container, swap included.", env: "COGNITION_DOCKER_MEMORY_LIMIT" },
  ),
  cpu_limit: option(decimal(0.01, 1024).default(1), {
    description: "Processors of a container.",
    env: "COGNITION_DOCKER_CPU_LIMIT",
  }),
  timeout: option(decimal(1, 86_400).default(300), {
    description: "Seconds that a command may take.",
    env: "COGNITION_DOCKER_TIMEOUT",
  }),
  idle_timeout: option(decimal(1, 604_800).default(900), {
    description: "Seconds that a container without a command is kept.",
  }),
  host_workspace: option(words("an absolute path").optional(), {
    description: "The workspace root as the Docker engine sees it, where the server itself runs in a container.",
    env: "COGNITION_DOCKER_HOST_WORKSPACE",
    unset: "the workspace root",
  }),
});

const Limits = section({
  timeout_ms: option(wholeNumber(100, 86_400_000).default(300_000), {
    description: "Time that a command may take (local and bubblewrap; for docker see `sandbox.docker`).",
  }),
  output_bytes: option(wholeNumber(1024, 100 * MIB).default(DEFAULT_MAX_OUTPUT_BYTES), {
    description: "What is kept of a command's output.",
  }),
  processes: option(wholeNumber(1, 1_000_000).default(256), { description: "Processes at once." }),
  memory_bytes: option(wholeNumber(MIB, 1024 * GIB).default(512 * MIB), { description: "Memory of a command." }),
  cpus: option(decimal(0.01, 1024).default(1), { description: "Processors of a command." }),
  file_bytes: option(wholeNumber(1024, 1024 * GIB).default(GIB), {
    description: "Size of one file that a command writes.",
  }),
  workspace_bytes: option(wholeNumber(MIB, 1024 * 1024 * GIB).default(10 * GIB), {
    description: "Size of a workspace; a command that grows it beyond that is stopped.",
  }),
  temporary_bytes: option(wholeNumber(1024, 1024 * GIB).default(256 * MIB), { description: "Size of /tmp." }),
});

export const SandboxSection = section({
  backend: option(oneOf(SandboxBackend.options as ["local", "bubblewrap", "docker"]).default("local"), {
    description: "Where commands run. `local` does not isolate: commands run as the server's user.",
  }),
  allow_unisolated: option(onOff().default(false), {
    description:
      "Start with scoping and a sandbox that does not isolate, or a folder that all sessions share, on an address that others can reach.",
  }),
  docker: Docker,
  limits: Limits,
});
