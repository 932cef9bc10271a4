/** The package brings no types; this is what is used of it. */
declare module "turndown" {
  export default class TurndownService {
    constructor(options?: { headingStyle?: "atx"; codeBlockStyle?: "fenced"; bulletListMarker?: "-" });
    turndown(html: string): string;
  }
}
