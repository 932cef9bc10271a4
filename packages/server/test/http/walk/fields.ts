import { ROUTES, type Route, type RouteName } from "@cognition/contract";
import { openApiDocument } from "../../../src/http/openapi/document.ts";

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const { paths, components } = openApiDocument("0") as unknown as Document;

/** Every field that a request of the route can have, headers aside: `path.id`, `body.decisions[].id` … */
export function fieldsOf(name: RouteName): string[] {
  const { path, method } = ROUTES[name] as Route;
  const { parameters = [], requestBody } = paths[path]?.[method.toLowerCase()] ?? {};
  const inUrl = parameters.filter((parameter) => parameter.in !== "header");
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema);
  return [
    ...new Set([
      ...inUrl.flatMap((parameter) => leavesOf(parameter.schema, `${parameter.in}.${parameter.name}`)),
      ...bodies.flatMap((schema) => leavesOf(schema, "body")),
    ]),
  ];
}

function leavesOf(given: Schema, at: string): string[] {
  const schema = given.$ref ? (components.schemas[given.$ref.split("/").at(-1) ?? ""] as Schema) : given;
  const either = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (either) return either.flatMap((one) => leavesOf(one, at));
  if (schema.items) return leavesOf(schema.items, `${at}[]`);
  if (!schema.properties) return [at];
  return Object.entries(schema.properties).flatMap(([name, member]) => leavesOf(member, `${at}.${name}`));
}
