import { describe } from "vitest";
import { definitionContract } from "../src/conformance/definition-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("definitions on $name", ({ open }) => definitionContract(open));
