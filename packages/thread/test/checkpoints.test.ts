import { describe } from "vitest";
import { checkpointContract } from "../src/conformance/checkpoint-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("checkpoints on $name", ({ open }) => checkpointContract(open));
