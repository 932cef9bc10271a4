import { budgetContract } from "../src/conformance/budget-contract.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("budgets", budgetContract);
