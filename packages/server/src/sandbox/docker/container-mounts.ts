import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { MountConfig } from "dockerode";
import { INSIDE, type Workspace } from "../backend.ts";
import { pathsWithin } from "../file/protected-folders.ts";
import { isAtOrBelow } from "../file/protected-paths.ts";
import type { DockerOptions } from "./docker-options.ts";

/** Enough for the folders and mount points in it. */
const EMPTY_BYTES = 1024 * 1024;

/**
 * The workspace, and over it what is protected, read-only. As with bubblewrap a protected folder with something hidden in it
 * becomes an empty one with its other entries in it; what appears beside them later is seen by the next container.
 */
export function containerMounts(workspace: Workspace, hostWorkspace: DockerOptions["hostWorkspace"]): MountConfig {
  const { folder, paths } = workspace;
  const inside = (path: string) => join(INSIDE, relative(folder, path));
  const bind = (path: string, readOnly: boolean): MountConfig => [
    { Type: "bind", Source: toHost(path, hostWorkspace), Target: inside(path), ReadOnly: readOnly },
  ];

  const protect = (path: string): MountConfig => {
    // A link to what is hidden shows it as well, and a broken one shows nothing.
    if (!existsSync(path) || paths.hidden.includes(realpathSync(path))) return [];
    const holdsHidden = paths.hidden.some((each) => isAtOrBelow(each, path));
    if (!lstatSync(path).isDirectory() || !holdsHidden) return bind(path, true);
    const entries = readdirSync(path).sort();
    return [empty(inside(path)), ...entries.flatMap((name) => protect(join(path, name)))];
  };

  const protectedPaths = pathsWithin(workspace, paths.protected);
  const loose = pathsWithin(workspace, paths.hidden).filter(
    (path) => !protectedPaths.some((each) => isAtOrBelow(path, each)),
  );
  return [
    ...bind(folder, false),
    ...protectedPaths.flatMap(protect),
    ...loose.flatMap((path): MountConfig => {
      if (!existsSync(path)) return [];
      if (lstatSync(path).isDirectory()) return [empty(inside(path))];
      return [{ Type: "bind", Source: "/dev/null", Target: inside(path), ReadOnly: true }];
    }),
  ];
}

function empty(target: string): MountConfig[number] {
  const TmpfsOptions = { SizeBytes: EMPTY_BYTES, Mode: 0o755 };
  return { Type: "tmpfs", Source: "", Target: target, ReadOnly: true, TmpfsOptions };
}

function toHost(path: string, hostWorkspace: DockerOptions["hostWorkspace"]): string {
  if (!hostWorkspace || !isAtOrBelow(path, hostWorkspace.root)) return path;
  return join(hostWorkspace.path, relative(hostWorkspace.root, path));
}
