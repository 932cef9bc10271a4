import { describe } from "vitest";
import { storeContract } from "../src/conformance/store-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("the memory store on $name", ({ open }) => storeContract(open));
