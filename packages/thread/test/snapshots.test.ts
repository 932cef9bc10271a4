import { describe } from "vitest";
import { snapshotContract } from "../src/conformance/snapshot-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("snapshots on $name", ({ open }) => snapshotContract(open));
