import type { Handlers } from "../handler.ts";

export interface MetricRoutes {
  readonly metrics: { read(): Promise<{ text: string; type: string }> };
}

export function metricRoutes({ metrics }: MetricRoutes): Pick<Handlers, "getMetrics"> {
  return {
    getMetrics: async () => {
      const { text, type } = await metrics.read();
      return new Response(text, { headers: { "Content-Type": type } });
    },
  };
}
