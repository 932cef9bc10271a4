import { describe } from "vitest";
import { usageContract } from "../src/conformance/usage-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("usage on $name", ({ open }) => usageContract(open));
