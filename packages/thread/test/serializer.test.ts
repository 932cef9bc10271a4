import { serializerContract } from "../src/conformance/serializer-contract.ts";

serializerContract();
