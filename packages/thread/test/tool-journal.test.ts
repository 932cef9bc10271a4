import { describe } from "vitest";
import { journalContract } from "../src/conformance/journal-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("on $name", ({ open }) => journalContract(open));
