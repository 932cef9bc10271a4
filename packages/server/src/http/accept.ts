/** What a client asks for by `Accept`; anything that is not an event stream is the route's default. */
export function acceptsStream(headers: Headers): boolean {
  return acceptsType(headers, "text/event-stream");
}

/** By name, not by `*`: who takes anything gets the route's default. */
export function acceptsType(headers: Headers, type: string): boolean {
  const ranges = (headers.get("Accept") ?? "").toLowerCase().split(",");
  return ranges.some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    return name === type && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

export function prefersAsync(headers: Headers): boolean {
  return (headers.get("Prefer") ?? "")
    .toLowerCase()
    .split(",")
    .some((part) => part.split(";")[0]?.trim() === "respond-async");
}

/** As a browser does for what a person opens. */
export function asksForHtml(headers: Headers): boolean {
  return headers.get("Accept")?.includes("text/html") ?? false;
}
