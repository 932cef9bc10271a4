import { afterAll, describe } from "vitest";
import { findBubblewrap } from "../../../../testing/bubblewrap.ts";
import { startDocker } from "../../../../testing/docker.ts";
import { supervisionContract } from "./supervision-contract.ts";

const bubblewrap = findBubblewrap();
const engine = await startDocker();

supervisionContract("local", { backend: "local" });

if ("file" in bubblewrap) supervisionContract("bubblewrap", { backend: "bubblewrap", bubblewrap: bubblewrap.file });
else describe.skip(`bubblewrap: ${bubblewrap.missing}`, () => {});

if ("host" in engine) {
  afterAll(() => engine.stop());
  supervisionContract("docker", { backend: "docker", docker: { host: engine.host, image: engine.image } });
} else {
  describe.skip(`docker: ${engine.missing}`, () => {});
}
