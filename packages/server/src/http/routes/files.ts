import { isAppError } from "@cognition/contract";
import type { Sessions } from "../../session/sessions.ts";
import { listWorkspace } from "../../session/workspace-listing.ts";
import { fileStream } from "../file-stream.ts";
import type { Handlers } from "../handler.ts";
import { tarStream } from "../tar-stream.ts";

export interface FileRoutes {
  readonly sessions: Pick<Sessions, "openFiles">;
}

type Names = "listFiles" | "getFile" | "putFile" | "deleteFile";

/** Never shown by a browser: what an agent wrote must not run as a page of this server. */
const DOWNLOAD = { "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox" };

export function fileRoutes({ sessions }: FileRoutes): Pick<Handlers, Names> {
  return {
    listFiles: async ({ params, query, scope }) => {
      const files = await sessions.openFiles(params.id, scope);
      const entries = await listWorkspace(files);
      if (query.archive === undefined) return { files: entries };
      const headers = {
        ...DOWNLOAD,
        "Content-Type": "application/x-tar",
        "Content-Disposition": 'attachment; filename="workspace.tar"',
      };
      return new Response(tarStream(files, entries), { headers });
    },
    getFile: async ({ params, scope }) => {
      const files = await sessions.openFiles(params.id, scope);
      const headers = { ...DOWNLOAD, "Content-Type": "application/octet-stream", "Content-Disposition": "attachment" };
      try {
        return new Response((await files.read(params.path)) as Uint8Array<ArrayBuffer>, { headers });
      } catch (error) {
        if (!isAppError(error, "content_too_large")) throw error;
        const file = await files.open(params.path);
        return new Response(fileStream(file), { headers: { ...headers, "Content-Length": String(file.size) } });
      }
    },
    putFile: async ({ params, body, scope }) => {
      await (await sessions.openFiles(params.id, scope)).write(params.path, body);
      return undefined;
    },
    deleteFile: async ({ params, scope }) => {
      await (await sessions.openFiles(params.id, scope)).delete(params.path);
      return undefined;
    },
  };
}
