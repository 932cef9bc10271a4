import { runChild } from "./child.ts";
import { type FloorSamples, sampleFloor } from "./commit-floor.ts";
import type { BenchOptions } from "./options.ts";
import { makeRoom } from "./place.ts";
import type { ReadInput, ReadResult } from "./read-thread.ts";
import type { RunInput, RunResult } from "./run-thread.ts";
import { type Side, sides, takesPart } from "./sides.ts";

/** What one round found out about one side at one length. */
export interface Sample extends RunResult {
  side: string;
  steps: number;
  disk_bytes: number | null;
  first_read_ms: number | null;
}

export interface Measured {
  samples: Sample[];
  floor: FloorSamples;
}

/**
 * Round after round and, within one, length after length with all sides in turn: what else the machine does then
 * hits all of them alike.
 */
export async function measureAll(
  { steps: lengths, rounds, ours }: BenchOptions,
  serverUrl: string,
  log: (line: string) => void,
): Promise<Measured> {
  const samples: Sample[] = [];
  const floor: FloorSamples = { sqlite: [], postgres: [] };
  for (let round = 0; round < rounds; round++) {
    for (const steps of lengths) {
      const more = await sampleFloor(serverUrl);
      floor.sqlite.push(...more.sqlite);
      floor.postgres.push(...more.postgres);
      for (const side of inTurn(round)) {
        if ((ours && side.kind === "official") || !takesPart(side, steps) || isTooLong(side, steps, round)) continue;
        const sample = await measure(side, steps, serverUrl);
        samples.push(sample);
        log(`round ${round + 1}/${rounds}, ${steps} steps, ${side.label}: ${sample.last_ms.toFixed(2)} ms per step`);
      }
    }
  }
  return { samples, floor };
}

/** Each round begins with another side. */
function inTurn(round: number): Side[] {
  const start = (round * 3) % sides.length;
  return [...sides.slice(start), ...sides.slice(0, start)];
}

/** Minutes and gigabytes for what differs by orders of magnitude: once is enough. */
function isTooLong(side: Side, steps: number, round: number): boolean {
  return side.kind === "official" && steps > 200 && round > 0;
}

async function measure(side: Side, steps: number, serverUrl: string): Promise<Sample> {
  const [room, warmUp] = [await makeRoom(side.engine, serverUrl), await makeRoom(side.engine, serverUrl)];
  const { name, kind, engine } = side;
  const official = kind === "official";
  try {
    const empty = engine === "postgres" && kind !== "floor" ? await emptySize(side, serverUrl) : 0;
    const input: RunInput = { side: name, steps, place: room.place, warmUp: warmUp.place };
    const run = await runChild<RunResult>("run-thread.ts", input, official);
    if (room.place === undefined || kind === "floor")
      return { ...run, side: name, steps, disk_bytes: null, first_read_ms: null };
    const disk_bytes = (await room.size()) - empty;
    const again: ReadInput = { side: name, steps, place: room.place };
    const read = await runChild<ReadResult>("read-thread.ts", again, official);
    return { ...run, ...read, side: name, steps, disk_bytes };
  } finally {
    await room.remove();
    await warmUp.remove();
  }
}

const emptySizes = new Map<string, number>();

/** What the tables and their indexes take before the first row. */
async function emptySize(side: Side, serverUrl: string): Promise<number> {
  const known = emptySizes.get(side.name);
  if (known !== undefined) return known;
  const room = await makeRoom(side.engine, serverUrl);
  await runChild("open-place.ts", { side: side.name, place: room.place }, side.kind === "official");
  const size = await room.size();
  await room.remove();
  emptySizes.set(side.name, size);
  return size;
}
