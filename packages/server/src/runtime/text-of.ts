/** The text of a message's content, whatever blocks it is made of. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : JSON.stringify(content);
  return content
    .map((block) => {
      if (typeof block === "string") return block;
      const { text } = block as { text?: unknown };
      return typeof text === "string" ? text : "";
    })
    .join("");
}
