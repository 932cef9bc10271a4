import { AppError } from "@cognition/contract";
import type { Handlers } from "../handler.ts";

export interface MetricRoutes {
  readonly metrics: { read(): Promise<{ text: string; type: string }> };
}

export function metricRoutes({ metrics }: MetricRoutes): Pick<Handlers, "getMetrics"> {
  return {
    getMetrics: async ({ scope = {}, admin }) => {
      if (!admin && Object.keys(scope).length > 0) throw notForOne();
      const { text, type } = await metrics.read();
      return new Response(text, { headers: { "Content-Type": type } });
    },
  };
}

function notForOne(): AppError {
  return new AppError(
    "forbidden",
    "The metrics are those of all scopes together; a credential that is bound to one needs to be an admin's to read them",
  );
}
