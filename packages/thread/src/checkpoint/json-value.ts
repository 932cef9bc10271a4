/** What `JSON.stringify` keeps exactly. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
