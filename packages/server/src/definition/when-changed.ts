/** What every message needs, and hardly ever is another: made once, and again when something that it is made of is another thing. */
export function whenChanged<From extends readonly unknown[], Made>(
  make: (...from: From) => Made,
): (...from: From) => Made {
  let last: { from: From; made: Made } | undefined;
  return (...from) => {
    const isSame = last?.from.length === from.length && from.every((one, i) => one === last?.from[i]);
    if (!last || !isSame) last = { from, made: make(...from) };
    return last.made;
  };
}
