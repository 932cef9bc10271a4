import { idempotencyContract } from "../src/conformance/idempotency-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("idempotency keys", idempotencyContract);
