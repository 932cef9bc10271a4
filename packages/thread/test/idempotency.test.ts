import { describe } from "vitest";
import { idempotencyContract } from "../src/conformance/idempotency-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("idempotency keys on $name", ({ open }) => idempotencyContract(open));
