import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { loadConfig } from "../../src/config.ts";
import { startTestServer } from "../http/test-server.ts";

const guides = join(import.meta.dirname, "../../../../docs/guide");
const guide = (name: string) => readFileSync(join(guides, name), "utf8");
const settings = readdirSync(guides)
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) => [...guide(page).matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ""]) => ({ page, yaml })));

it("the guides have something for the configuration file", () => {
  const pages = settings.map(({ page }) => page);
  expect(pages).toEqual(expect.arrayContaining(["access.md", "models.md", "telemetry.md", "tools.md"]));
});

it.each(settings)("what $page has for the configuration file is valid: $yaml", ({ yaml }) => {
  const dir = createTempDir();
  mkdirSync(join(dir.path, ".cognition"));
  writeFileSync(join(dir.path, ".cognition/config.yaml"), yaml);
  expect(() => loadConfig({ env: {}, cwd: dir.path, home: undefined })).not.toThrow();
  dir.remove();
});

it("the metrics that the guide names are those that there are", async () => {
  const { ask } = await startTestServer();
  const text = await (await ask("/metrics")).text();
  const there = [...text.matchAll(/^# TYPE (cognition_\w+)/gm)].map(([, name]) => name);
  const named = [...guide("telemetry.md").matchAll(/^\| `(cognition_\w+)`/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(there.sort());
});
