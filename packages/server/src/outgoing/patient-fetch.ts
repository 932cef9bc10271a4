/** What sends the requests of Node's fetch, as far as it is used here. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** Where Node's fetch looks for it, and where a user puts another one: a proxy's, say. */
const GLOBAL = Symbol.for("undici.globalDispatcher.1");
/** Of a later one nobody knows yet where it looks: it is used as it is. */
const IS_KNOWN = Number.parseInt(process.versions["undici"] ?? "", 10) <= 7;

const patient: Dispatcher = {
  dispatch: (options, handler) => inUse().dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
};

/**
 * Node's fetch gives an answer up that is silent for five minutes, however long it was granted. Here its caller alone says how long
 * it is waited for: a model on a machine of one's own may read a long conversation for longer before its first word.
 */
export const patientFetch: typeof fetch = (input, init) =>
  fetch(input, IS_KNOWN ? ({ ...init, dispatcher: patient } as RequestInit) : init);

function inUse(): Dispatcher {
  return (globalThis as unknown as Record<symbol, Dispatcher>)[GLOBAL] as Dispatcher;
}
