import { z } from "zod";
import { httpUrl, option, section, words } from "../option.ts";

export const TracesSection = section({
  endpoint: option(httpUrl().optional(), {
    description: "Where traces go, as OTLP over HTTP: `http://localhost:4318/v1/traces`.",
    aliases: ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
    unset: "no traces",
  }),
  headers: option(
    z.record(z.string(), z.string(), { error: "must map names of headers to their values" }).default({}),
    { description: "Headers for the collector, such as its key.", secret: true },
  ),
  service_name: option(words("a name").default("cognition"), {
    description: "What traces call this server.",
    aliases: ["OTEL_SERVICE_NAME"],
  }),
});
