import { openSide, type Place } from "./open-side.ts";
import { sideNamed } from "./sides.ts";

/** A process of its own that only makes a side's tables. */
const { side, place } = JSON.parse(process.argv[2] ?? "null") as { side: string; place: Place };
const open = await openSide(sideNamed(side), place);
await open.close();
process.stdout.write("null\n");
