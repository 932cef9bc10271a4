import { describe } from "vitest";
import { eventContract } from "../src/conformance/event-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("events on $name", ({ open }) => eventContract(open));
