/** The same promise; only, what is derived from it by `then` has somebody who listens. `await` sees the failure as ever. */
export function handledLater(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined);
  const derive = promise.then.bind(promise);
  // biome-ignore lint/suspicious/noThenProperty: LangGraph keeps what `then` returns, and awaits it later
  promise.then = (...handlers: Parameters<typeof derive>) => {
    const derived = derive(...handlers);
    derived.catch(() => undefined);
    return derived as never;
  };
  return promise;
}
