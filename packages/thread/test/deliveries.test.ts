import { describe } from "vitest";
import { deliveryContract } from "../src/conformance/delivery-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("deliveries on $name", ({ open }) => deliveryContract(open));
