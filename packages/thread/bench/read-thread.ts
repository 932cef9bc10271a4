import { openSide, type Place } from "./open-side.ts";
import { timeRead } from "./run-thread.ts";
import { sideNamed } from "./sides.ts";
import { median } from "./statistics.ts";

/** A process of its own that has never seen the thread, and reads its whole state. */
export interface ReadInput {
  side: string;
  steps: number;
  place: Place;
}

export interface ReadResult {
  first_read_ms: number;
  read_ms: number;
}

const READS = 5;

const { side, steps, place } = JSON.parse(process.argv[2] ?? "null") as ReadInput;
const times: number[] = [];
for (let i = 0; i < READS; i++) {
  // Each time a new instance: one that has read before may remember.
  const open = await openSide(sideNamed(side), place);
  times.push(await timeRead(open.saver, steps));
  await open.close();
}
const result: ReadResult = { first_read_ms: times[0] as number, read_ms: median(times) };
process.stdout.write(`${JSON.stringify(result)}\n`);
