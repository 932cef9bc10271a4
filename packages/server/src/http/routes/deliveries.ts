import type { DeliveryStore } from "@cognition/thread";
import type { Handlers } from "../handler.ts";
import { cursorPage, uuidCursorOf } from "./page.ts";

export interface DeliveryRoutesOptions {
  readonly storage: Pick<DeliveryStore, "listDeliveries" | "countDeliveries" | "getDelivery" | "redeliver">;
  /** Told that something is due again. */
  readonly onDue: () => void;
}

export function createDeliveryRoutes({
  storage,
  onDue,
}: DeliveryRoutesOptions): Pick<Handlers, "listDeliveries" | "getDelivery" | "redeliver"> {
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
