import { describe } from "vitest";
import { sessionContract } from "../src/conformance/session-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("sessions on $name", ({ open }) => sessionContract(open));
