import { type Media, Problem, type Route, type RouteName, StreamEvent } from "@cognition/contract";
import { z } from "zod";
import { PUBLIC_ROUTES } from "../guard.ts";
import type { Components, JsonSchema } from "./components.ts";

const MEDIA_TYPES: Record<Exclude<Media, "none">, string> = {
  json: "application/json",
  stream: "text/event-stream",
  bytes: "application/octet-stream",
  text: "text/plain",
  html: "text/html",
};

export function describeOperation(name: RouteName, route: Route, components: Components): JsonSchema {
  const parameters = [...parametersOf(route), ...headersOf(name, route)];
  return {
    operationId: name,
    summary: route.summary,
    tags: [route.path.split("/")[1]],
    ...(PUBLIC_ROUTES.has(name) && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: describeBody(route, components) }),
    responses: {
      [route.status]: describeSuccess(name, route, components),
      ...(route.async && {
        202: {
          description: "The run as it is (`Prefer: respond-async`)",
          content: contentOf("json", name, route, components),
        },
      }),
      ...((route.async || name === "listRunEvents") && {
        204: { description: "The run has ended, and all of it was seen" },
      }),
      ...(name === "getReadiness" && {
        503: { description: "Why not", content: contentOf("json", name, route, components) },
      }),
      default: {
        description: "What went wrong",
        content: { "application/problem+json": { schema: components.given(Problem) } },
      },
    },
  };
}

/** Each member of the object that a path or a query is. */
function parametersOf({ params, query }: Route): JsonSchema[] {
  const inPath = membersOf(params).map(({ name, schema }) => ({ name, in: "path", required: true, schema }));
  const inQuery = membersOf(query).map(({ name, schema, required }) => ({
    name,
    in: "query",
    required,
    ...(name === "metadata" ? metadataIn(schema as JsonSchema) : { schema }),
  }));
  return [...inPath, ...inQuery];
}

/** OpenAPI sends the members of an object by their own names, without the object's: so the prefix is part of each. */
function metadataIn({ propertyNames: _, ...schema }: JsonSchema): JsonSchema {
  return {
    description: "As `metadata.<key>=<value>`, once for each key; every one must match",
    style: "form",
    explode: true,
    schema: { ...schema, propertyNames: { pattern: "^metadata\\.." } },
    example: { "metadata.repository": "myorg/myrepo" },
  };
}

function membersOf(schema: z.ZodType | undefined): { name: string; schema: unknown; required: boolean }[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input" });
  return Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    required: required.includes(name),
  }));
}

/** Changed only at the version that the caller has seen, if he says which. */
const GUARDED: ReadonlySet<RouteName> = new Set(["updateArtifact", "deleteArtifact"]);

function headersOf(route_name: RouteName, { method, media, async: runs }: Route): JsonSchema[] {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  });
  return [
    ...(method === "POST"
      ? [header("Idempotency-Key", "The same key and body gives the first result again; kept 24 hours")]
      : []),
    ...(media.includes("stream")
      ? [header("Last-Event-ID", "The last event that was seen; the stream goes on after it")]
      : []),
    ...(GUARDED.has(route_name)
      ? [header("If-Match", "The version's tag, as `ETag` told it; at another one 412")]
      : []),
    ...(runs ? [header("Prefer", "`respond-async` answers at once, with the run")] : []),
  ];
}

function describeBody({ body, method }: Route, components: Components): JsonSchema {
  if (body === "bytes") return { required: true, content: { "application/octet-stream": { schema: {} } } };
  const schema = body as z.ZodType;
  // A POST without a body is one without fields.
  const required = !(method === "POST" && schema.safeParse({}).success);
  return { required, content: { "application/json": { schema: components.sent(schema) } } };
}

function describeSuccess(name: RouteName, route: Route, components: Components): JsonSchema {
  const [first] = route.media;
  const content = Object.assign({}, ...route.media.map((media) => contentOf(media, name, route, components)));
  const description = first === "none" ? "Done" : first === "stream" ? "Server-sent events" : "The result";
  return { description, ...(Object.keys(content).length > 0 && { content }) };
}

/** Bytes of a type of their own: an archive, and what the artifact says that it is. */
const BYTES: Partial<Record<RouteName, string>> = { listFiles: "application/x-tar", getArtifactContent: "*/*" };

function contentOf(media: Media, name: RouteName, { response }: Route, components: Components): JsonSchema {
  if (media === "none") return {};
  const schema =
    media === "stream" ? components.given(StreamEvent) : media === "json" && response ? components.given(response) : {};
  const type = (media === "bytes" && BYTES[name]) || MEDIA_TYPES[media];
  return { [type]: { schema } };
}
