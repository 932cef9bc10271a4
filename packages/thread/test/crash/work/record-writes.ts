import type { CheckpointSaver } from "../../../src/checkpoint-saver.ts";
import type { Ledger } from "../ledger.ts";
import { hashOfState } from "./work.ts";

/** Notes down what LangGraph was told is stored: every checkpoint with its values, every task's writes. */
export function recordWrites(saver: CheckpointSaver, ledger: Ledger): void {
  const put = saver.put.bind(saver);
  saver.put = async (config, checkpoint, ...rest) => {
    // At the call: the graph goes on with the same objects.
    const hash = hashOfState(checkpoint);
    const stored = await put(config, checkpoint, ...rest);
    const { thread_id, checkpoint_ns: ns = "" } = config.configurable ?? {};
    ledger.write({ t: "checkpoint", thread_id, ns, checkpoint_id: checkpoint.id, hash });
    return stored;
  };
  const putWrites = saver.putWrites.bind(saver);
  // Not async: LangGraph must get the very promise that the saver made.
  saver.putWrites = (config, writes, task_id) => {
    const { thread_id, checkpoint_ns: ns = "", checkpoint_id } = config.configurable ?? {};
    const channels = writes.map(([channel]) => channel);
    const stored = putWrites(config, writes, task_id);
    stored.then(
      () => ledger.write({ t: "writes", thread_id, ns, checkpoint_id, task_id, channels }),
      () => undefined, // nothing was promised
    );
    return stored;
  };
}
