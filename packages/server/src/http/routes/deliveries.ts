import type { DeliveryStore } from "@cognition/thread";
import type { Handlers } from "../handler.ts";
import { cursorPage, uuidCursorOf } from "./page.ts";

export interface DeliveryRoutes {
  readonly storage: Pick<DeliveryStore, "listDeliveries" | "countDeliveries" | "getDelivery" | "redeliver">;
  /** Told that a callback is due again. */
  readonly onDue: () => void;
}

type Names = "listDeliveries" | "getDelivery" | "redeliver";

export function deliveryRoutes({ storage, onDue }: DeliveryRoutes): Pick<Handlers, Names> {
  return {
    listDeliveries: async ({ query, scope }) => {
      const { limit, offset, status, session_id } = query;
      const before = uuidCursorOf(query);
      const filter = { ...(scope && { scope }), ...(status && { status }), ...(session_id && { session_id }) };
      const [found, total] = await Promise.all([
        storage.listDeliveries({ ...filter, limit: limit + 1, offset, ...(before && { before }) }),
        storage.countDeliveries(filter),
      ]);
      const { page: deliveries, info } = cursorPage(query, found, total);
      return { deliveries, ...info };
    },
    getDelivery: async ({ params, scope }) => storage.getDelivery(params.id, scope),
    redeliver: async ({ params, scope }) => {
      const delivery = await storage.redeliver(params.id, scope);
      onDue();
      return delivery;
    },
  };
}
