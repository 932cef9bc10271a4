import { describe } from "vitest";
import { accessContract } from "../src/conformance/access-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("access on $name", ({ open }) => accessContract(open));
