import pg from "pg";

interface PipelinedClient {
  pipeline?: boolean;
}

/**
 * Counts how often this process waits for PostgreSQL's answer. Pipelined queries that are under way together are one
 * round trip; without pipelining each query is one.
 */
export function countRoundTrips(): () => number {
  let count = 0;
  const underWay = new WeakMap<object, number>();
  const query = pg.Client.prototype.query as unknown as (this: object, ...args: unknown[]) => unknown;
  function counted(this: object, ...args: unknown[]): unknown {
    const busy = underWay.get(this) ?? 0;
    if (busy === 0 || !(this as PipelinedClient).pipeline) count++;
    const answer = query.apply(this, args);
    if (answer instanceof Promise) {
      underWay.set(this, busy + 1);
      const done = () => underWay.set(this, (underWay.get(this) ?? 1) - 1);
      answer.then(done, done);
    }
    return answer;
  }
  Object.assign(pg.Client.prototype, { query: counted });
  return () => count;
}
