/** What a server says to the benchmark that started it; its own output is left to its log. */
export type Told = { readonly url: string } | { readonly memory: Memory } | { readonly cpu_ms: number };

export interface Memory {
  readonly rss: number;
  /** JavaScript objects and buffers, after a garbage collection. */
  readonly held: number;
}

export type Question = "memory" | "cpu_ms";

/** Says where the server is, and from then on, whenever it is asked, what it takes. */
export function tellParent(url: string): void {
  process.on("message", (question: Question) =>
    tell(question === "memory" ? { memory: measure() } : { cpu_ms: cpuMs() }),
  );
  tell({ url });
}

function tell(line: Told): void {
  process.send?.(line);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function measure(): Memory {
  if (!globalThis.gc) throw new Error("start the server with --expose-gc");
  for (let i = 0; i < 3; i++) globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, held: heapUsed + external };
}
