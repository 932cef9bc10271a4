import { describe } from "vitest";
import { timelineContract } from "../src/conformance/timeline-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("the timeline on $name", ({ open }) => timelineContract(open));
