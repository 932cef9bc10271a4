/** The targets of a Markdown text's links and images that are files of the repository, without their anchors. */
export function findRelativeLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const inline = prose.matchAll(/\]\(\s*<?([^\s)>]+)/g);
  const definitions = prose.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/gm);
  const html = prose.matchAll(/\b(?:href|src)="([^"]+)"/g);
  return [...inline, ...definitions, ...html]
    .map(([, target = ""]) => decodeURI(target.split("#")[0] ?? ""))
    .filter((target) => target !== "" && !/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target));
}

/** The anchors of a Markdown text's headings, as they are made on GitHub. */
export function findAnchors(markdown: string): string[] {
  const prose = markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "");
  const headings = [...prose.matchAll(/^#{1,6} +(.*?) *$/gm)].map(([, text = ""]) => text);
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Links to a heading: `file` is empty where it is in the same text. */
export function findAnchorLinks(markdown: string): { readonly file: string; readonly anchor: string }[] {
  const prose = markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(\s*<?([^\s)>#:]*)#([^\s)>]+)/g)].map(([, file = "", anchor = ""]) => ({
    file,
    anchor,
  }));
}
