import { deliveryContract } from "../src/conformance/delivery-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("deliveries", deliveryContract);
