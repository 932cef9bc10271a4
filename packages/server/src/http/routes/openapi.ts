import { DOCS_POLICY, docsPage } from "../docs/docs-page.ts";
import type { Handlers } from "../handler.ts";
import { openApiDocument } from "../openapi/document.ts";

export interface OpenApiRoutes {
  readonly version: string;
}

export function openApiRoutes({ version }: OpenApiRoutes): Pick<Handlers, "getOpenApi" | "getDocs"> {
  let known: { document: Record<string, unknown>; page: string } | undefined;

  /** Made when first asked for: a server should not take longer to start for it. */
  function describe() {
    if (!known) {
      const document = openApiDocument(version);
      known = { document, page: docsPage(document) };
    }
    return known;
  }

  return {
    getOpenApi: async () => describe().document,
    getDocs: async () => {
      const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": DOCS_POLICY };
      return new Response(describe().page, { headers });
    },
  };
}
