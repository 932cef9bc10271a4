import { describe } from "vitest";
import { budgetContract } from "../src/conformance/budget-contract.ts";
import { engines } from "./engines.ts";

describe.each(engines)("budgets on $name", ({ open }) => budgetContract(open));
