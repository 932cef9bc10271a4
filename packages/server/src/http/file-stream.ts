import type { OpenFile } from "../sandbox/sandbox.ts";

/** A file as fast as it is read, and closed at its end or when its reader goes. One that became shorter ends with an error. */
export function fileStream(file: OpenFile): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await file.read();
          if (piece) {
            sent += piece.length;
            controller.enqueue(piece);
            return;
          }
          if (sent < file.size) throw new Error("The file became shorter while it was read");
          controller.close();
          await file.close();
        } catch (error) {
          await file.close();
          throw error;
        }
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  );
}
