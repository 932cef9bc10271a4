import { describe } from "vitest";
import { runContract } from "../src/conformance/run-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("runs on $name", ({ open }) => runContract(open));
