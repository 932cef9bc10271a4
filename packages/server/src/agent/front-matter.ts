import { yamlError } from "./yaml-source.ts";

export interface FrontMatter {
  yaml: string;
  body: string;
}

const FENCE = /^---[ \t]*$/;

/** The YAML between two lines of `---` at the top of a Markdown file, and what follows. The YAML begins on line 2. */
export function splitFrontMatter(text: string, label: string): FrontMatter {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (!FENCE.test(lines[0] ?? "")) throw yamlError(label, 1, "must begin with front matter between two lines of ---");
  const end = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  if (end === -1) throw yamlError(label, 1, "the front matter has no closing line of ---");
  return {
    yaml: lines.slice(1, end).join("\n"),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}
