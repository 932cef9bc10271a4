/** Enough for the reason of a failure; a server that talks all day must not fill the memory. */
const MAX_CHARACTERS = 8 * 1024;

/** Keeps the end of a stream of text. */
export function createTail(): { write(chunk: Buffer | string): void; text(): string } {
  let kept = "";
  return {
    write(chunk) {
      kept = (kept + chunk.toString()).slice(-MAX_CHARACTERS);
    },
    text: () => kept.trim().toWellFormed(),
  };
}
