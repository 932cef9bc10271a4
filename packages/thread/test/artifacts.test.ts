import { describe } from "vitest";
import { artifactContract } from "../src/conformance/artifact-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("artifacts on $name", ({ open }) => artifactContract(open));
