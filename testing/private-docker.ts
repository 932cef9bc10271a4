import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, openSync, readFileSync, rmdirSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createTempDir, type TempDir } from "./temp-dir.ts";

const START_DEADLINE_MS = 60_000;
const REMOVE_DEADLINE_MS = 20_000;

/**
 * An engine in mount, process and network namespaces of its own: nothing of the machine's /etc, /opt, /run or network is
 * touched, and killing the namespace's first process ends the engine with all its containers.
 */
export async function startPrivateEngine(
  packages: string,
  answers: (host: string) => Promise<boolean>,
): Promise<{ host: string; stop(): Promise<void> }> {
  const dir = createTempDir("cognition-docker-");
  const cgroup = `/${basename(dir.path)}`;
  const host = `unix://${join(dir.path, "docker.sock")}`;
  const child = launch(packages, dir, cgroup);
  const stop = async () => {
    await killNamespace(child);
    await removeAll(dir, cgroup);
  };
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await answers(host))) {
    if (child.exitCode === null && child.signalCode === null && performance.now() < deadline) {
      await delay(25);
      continue;
    }
    const log = readFileSync(join(dir.path, "dockerd.log"), "utf8").slice(-2_000);
    await stop();
    throw new Error(`dockerd did not start:\n${log}`);
  }
  return { host, stop };
}

function launch(packages: string, { path }: TempDir, cgroup: string): ChildProcess {
  for (const name of ["etc", "opt"]) for (const part of ["upper", "work"]) mkdirSync(join(path, `${name}.${part}`));
  const log = openSync(join(path, "dockerd.log"), "a");
  const script = `set -e
for name in etc opt; do
  mount -t overlay overlay -o "lowerdir=/$name,upperdir=$1/$name.upper,workdir=$1/$name.work" "/$name"
done
mount -t tmpfs tmpfs /run
exec dockerd --host "unix://$1/docker.sock" --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/docker.pid" \
  --storage-driver overlay2 --bridge none --iptables=false --ip6tables=false --ip-forward=false --cgroup-parent "$2"`;
  // The signal at the parent's death reaches unshare, whose own --kill-child then ends the namespace.
  const args = [
    "--pdeathsig",
    "KILL",
    "unshare",
    "--mount",
    "--pid",
    "--net",
    "--fork",
    "--kill-child",
    "--mount-proc",
  ];
  const bin = ["usr/sbin", "usr/bin"].map((folder) => join(packages, folder)).join(":");
  return spawn("setpriv", [...args, "sh", "-c", script, "sh", path, cgroup], {
    stdio: ["ignore", log, log],
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
  });
}

/** Its first process rather than unshare, which then reaps it: the other way round leaves a zombie. */
async function killNamespace(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(/\s+/);
  const inner = children.filter(Boolean).map(Number);
  if (inner.length === 0) child.kill("SIGKILL");
  for (const pid of inner) process.kill(pid, "SIGKILL");
  await ended;
}

async function removeAll(dir: TempDir, cgroup: string): Promise<void> {
  for (const deadline = performance.now() + REMOVE_DEADLINE_MS; existsSync(dir.path); await delay(50)) {
    try {
      dir.remove();
    } catch (error) {
      // The kernel lets go of the mounts a moment after the namespace's last process.
      if (performance.now() > deadline) throw error;
    }
  }
  const folders = globSync([`/sys/fs/cgroup/*${cgroup}`, `/sys/fs/cgroup${cgroup}`]);
  for (const folder of folders.flatMap((each) => [...globSync(join(each, "*/")), each])) {
    try {
      rmdirSync(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EBUSY" && code !== "ENOENT") throw error;
    }
  }
}
