import { ROUTES, type Route, type RouteName } from "@cognition/contract";
import { createComponents, type JsonSchema } from "./components.ts";
import { describeOperation } from "./operation.ts";

const DESCRIPTION = `A durable runtime for AI agents. Errors are problem+json (RFC 9457) with a \`code\`. Where the server
separates by scope, every request carries a header \`X-Cognition-Scope-<Key>\` for each of its keys.`;

/** The contract as OpenAPI 3.1: the same schemas that requests are parsed with. */
export function openApiDocument(version: string): JsonSchema {
  const components = createComponents();
  const paths: Record<string, JsonSchema> = {};
  for (const [name, route] of Object.entries(ROUTES) as [RouteName, Route][]) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: describeOperation(name, route, components),
    };
  }
  return components.shorten({
    openapi: "3.1.0",
    info: {
      title: "Cognition",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{}, { bearer: [] }, { api_key: [] }],
    paths,
    components: {
      schemas: components.used(),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key or a signed token" },
        api_key: { type: "apiKey", in: "header", name: "X-API-Key", description: "The same, as a header of its own" },
      },
    },
  });
}
