import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";

const PROGRAM = join(import.meta.dirname, "../children/close-thread.ts");

// Its process had nothing else to wait for, as at the end of a server: it ended with exit code 13 in the middle of closing.
test("a thread whose last answer comes while it is being ended is waited for", { timeout: 120_000 }, async () => {
  const dir = createTempDir();
  onTestFinished(dir.remove);
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--conditions=cognition-source",
    "--disable-warning=ExperimentalWarning",
    PROGRAM,
    dir.path,
  ]);
  expect(stdout).toBe("all ended");
});
