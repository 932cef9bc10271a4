import { isAppError, type Scope } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { SandboxFiles } from "../../sandbox/sandbox.ts";
import { listWorkspace } from "../../session/list-workspace.ts";
import type { Sessions } from "../../session/sessions.ts";
import { whileThere } from "../../session/while-there.ts";
import { fileStream } from "../file-stream.ts";
import type { Handlers } from "../handler.ts";
import { tarStream } from "../tar-stream.ts";

export interface FileRoutes {
  readonly storage: Pick<Storage, "getSession">;
  readonly sessions: Pick<Sessions, "openFiles" | "changeFiles">;
}

type Names = "listFiles" | "getFile" | "putFile" | "deleteFile";

/** Never shown by a browser: what an agent wrote must not run as a page of this server. */
const DOWNLOAD = { "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox" };

export function fileRoutes({ storage, sessions }: FileRoutes): Pick<Handlers, Names> {
  type Asked = { params: { id: string }; scope: Scope | undefined };
  const withFiles = <T>({ params, scope }: Asked, work: (files: SandboxFiles) => Promise<T>) =>
    whileThere(storage, params.id, scope, async ({ id }) => work(await sessions.openFiles(id, scope)));

  const changing = async ({ params, scope }: Asked, work: (files: SandboxFiles) => Promise<unknown>) => {
    await whileThere(storage, params.id, scope, ({ id }) => sessions.changeFiles(id, scope, work));
    return undefined;
  };

  return {
    listFiles: (asked) =>
      withFiles(asked, async (files) => {
        const entries = await listWorkspace(files);
        if (asked.query.archive === undefined) return { files: entries };
        const headers = {
          ...DOWNLOAD,
          "Content-Type": "application/x-tar",
          "Content-Disposition": 'attachment; filename="workspace.tar"',
        };
        return new Response(tarStream(files, entries), { headers });
      }),
    getFile: (asked) =>
      withFiles(asked, async (files) => {
        const { path } = asked.params;
        const headers = {
          ...DOWNLOAD,
          "Content-Type": "application/octet-stream",
          "Content-Disposition": "attachment",
        };
        try {
          return new Response((await files.read(path)) as Uint8Array<ArrayBuffer>, { headers });
        } catch (error) {
          if (!isAppError(error, "content_too_large")) throw error;
          const file = await files.open(path);
          return new Response(fileStream(file), { headers: { ...headers, "Content-Length": String(file.size) } });
        }
      }),
    putFile: (asked) => changing(asked, (files) => files.write(asked.params.path, asked.body)),
    deleteFile: (asked) => changing(asked, (files) => files.delete(asked.params.path)),
  };
}
