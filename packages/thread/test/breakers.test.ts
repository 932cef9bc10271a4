import { describe } from "vitest";
import { breakerContract } from "../src/conformance/breaker-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("breakers on $name", ({ open }) => breakerContract(open));
