import { describe } from "vitest";
import { messageContract } from "../src/conformance/message-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("messages on $name", ({ open }) => messageContract(open));
