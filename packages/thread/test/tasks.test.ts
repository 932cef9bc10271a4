import { describe } from "vitest";
import { taskContract } from "../src/conformance/task-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("tasks on $name", ({ open }) => taskContract(open));
