import type { Scope } from "@cognition/contract";
import type { ChatKey } from "@cognition/thread";
import type { Chats } from "../../chat/chats.ts";
import type { Handlers } from "../handler.ts";
import { requireOwnUser } from "../own-user.ts";
import { pageInfo } from "./page.ts";

type Names = "putChat" | "getChat" | "deleteChat" | "clearChat" | "listChatMessages";

export interface ChatRoutes {
  readonly chats: Chats;
}

export function chatRoutes({ chats }: ChatRoutes): Pick<Handlers, Names> {
  const own = ({ params, scope }: { params: ChatKey; scope: Scope | undefined }): ChatKey => {
    requireOwnUser(scope, params.user_id);
    return params;
  };

  return {
    putChat: async (call) => chats.put(own(call), call.body, call.scope),
    getChat: async (call) => chats.get(own(call), call.scope),
    deleteChat: async (call) => {
      await chats.deactivate(own(call), call.scope);
      return undefined;
    },
    clearChat: async (call) => chats.clear(own(call), call.scope),
    listChatMessages: async (call) => {
      const { messages, total } = await chats.log.list(own(call), call.query, call.scope);
      return { messages, ...pageInfo(call.query, messages.length, total) };
    },
  };
}
