import { type HTMLElement, NodeType, parse } from "node-html-parser";
import TurndownService from "turndown";

export type PageFormat = "markdown" | "text";

/** Markdown of deeper pages has no use, and takes time with the square of the depth. */
const MAX_MARKDOWN_DEPTH = 500;

const names = (list: string) => new Set(list.split(" "));
const INVISIBLE = names("script style noscript template svg iframe object embed link meta head");
const BLOCKS = names(
  "address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul",
);

export interface Page {
  title: string;
  content: string;
}

type PageNode = HTMLElement["childNodes"][number];

/**
 * What a reader would see of an HTML page. Links become absolute, so that they can be followed. A page may be nested
 * deeper than a stack goes, so nothing here walks it by recursion, and the parser's own searches are not used.
 */
export function toPage(html: string, url: string, format: PageFormat): Page {
  const root = parse(html, { comment: false, voidTag: { closingSlash: true } });
  const { elements, depth } = everyElement(root);
  const title = elements.find((element) => tagOf(element) === "title")?.text ?? "";
  for (const element of elements) {
    if (INVISIBLE.has(tagOf(element))) element.remove();
    else makeAbsolute(element, url);
  }
  const asText = format === "text" || depth > MAX_MARKDOWN_DEPTH;
  return { title: title.replace(/\s+/g, " ").trim(), content: asText ? visibleText(root) : toMarkdown(root) };
}

function toMarkdown(root: HTMLElement): string {
  const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  return turndown.turndown(root.toString()).trim();
}

function makeAbsolute(element: HTMLElement, base: string): void {
  const attribute = { a: "href", img: "src" }[tagOf(element)];
  const given = attribute && element.getAttribute(attribute);
  if (!attribute || given === undefined) return;
  const address = URL.parse(given, base);
  if (address?.protocol === "http:" || address?.protocol === "https:") element.setAttribute(attribute, address.href);
  else element.removeAttribute(attribute);
}

function tagOf(node: PageNode): string {
  return (node as HTMLElement).rawTagName?.toLowerCase() ?? "";
}

function everyElement(root: HTMLElement): { elements: HTMLElement[]; depth: number } {
  const elements: HTMLElement[] = [];
  let depth = 0;
  let level: PageNode[] = [root];
  for (; level.length > 0; depth++) {
    const found = level.filter((node) => node.nodeType === NodeType.ELEMENT_NODE) as HTMLElement[];
    for (const element of found) elements.push(element);
    level = found.flatMap((element) => element.childNodes);
  }
  return { elements, depth };
}

function visibleText(root: HTMLElement): string {
  const parts: string[] = [];
  const waiting: (PageNode | string)[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") parts.push(next);
    else if (next.nodeType === NodeType.TEXT_NODE) parts.push(next.text.replace(/\s+/g, " "));
    else for (const child of unfold(next).reverse()) waiting.push(child);
  }
  return parts
    .join("")
    .replace(/[ \t]*\n[ \t]*/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function unfold(node: PageNode): (PageNode | string)[] {
  return BLOCKS.has(tagOf(node)) ? ["\n", ...node.childNodes, "\n"] : [...node.childNodes];
}
