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
