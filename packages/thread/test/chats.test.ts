import { describe } from "vitest";
import { chatStoreContract } from "../src/conformance/chat-store-contract.ts";
import { sessionManagerContract } from "../src/conformance/session-manager-contract.ts";
import { chatStores } from "./chat-stores.ts";

describe.each(chatStores)("chats on $name", ({ open }) => chatStoreContract(open));
describe.each(chatStores)("session manager on $name", ({ open }) => sessionManagerContract(open));
