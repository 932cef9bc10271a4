/** Runs in the browser: sends what the form of an operation says, and shows what comes back as it comes. */
export const DOCS_SCRIPT = `
for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = form.querySelector("output");
    const button = form.querySelector("button");
    button.disabled = true;
    output.textContent = "…";
    try {
      const response = await fetch(...requestOf(form));
      output.textContent = response.status + " " + response.statusText + "\\n\\n";
      const reader = response.body && response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part; reader && !(part = await reader.read()).done; ) output.textContent += part.value;
    } catch (error) {
      output.textContent = String(error);
    } finally {
      button.disabled = false;
    }
  });
}

function requestOf(form) {
  const headers = new Headers();
  for (const line of document.querySelector("#headers").value.split("\\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const field of form.querySelectorAll("input")) {
    const slashes = field.name === "path" ? "/" : "";
    const value = field.value.split(slashes || "\\u0000").map(encodeURIComponent).join(slashes);
    if (field.dataset.in === "path") path = path.replace("{" + field.name + "}", value);
    else if (field.value !== "" && field.dataset.in === "header") headers.set(field.name, field.value);
    else if (field.value !== "") for (const [name, one] of queryOf(field)) query.append(name, one);
  }
  const body = form.querySelector("textarea");
  const search = query.size > 0 ? "?" + query : "";
  // From here: a proxy may have it below a path of its own.
  return ["." + path + search, { method: form.dataset.method, headers, body: body ? body.value : undefined }];
}

function queryOf(field) {
  if (field.name !== "metadata") return [[field.name, field.value]];
  // As the description has it, or the key alone.
  return [...new URLSearchParams(field.value)].map(([key, value]) => [key.replace(/^(metadata[.])?/, "metadata."), value]);
}
`;
