/** Oldest first. Entries, because an object would put keys like "2024" first whatever their age is. */
export type Entries<V> = readonly (readonly [key: string, value: V])[];

/** Adds the trimmed text as the newest. Blank text and text that is there already give the same list. */
export function addText(list: readonly string[], text: string, bound: number): readonly string[] {
  const value = text.trim();
  return value === "" || list.includes(value) ? list : [...list, value].slice(-bound);
}

/** As if each had been added on its own. */
export function textList(texts: readonly string[], bound: number): readonly string[] {
  return texts.reduce<readonly string[]>((list, text) => addText(list, text, bound), []);
}

/** A new value makes its key the newest. A blank key and an equal value give the same entries. */
export function putEntry<V>(entries: Entries<V>, key: string, value: V, bound = Number.POSITIVE_INFINITY): Entries<V> {
  const name = key.trim();
  if (name === "") return entries;
  const known = entries.find(([other]) => other === name);
  if (known && sameJson(known[1], value)) return entries;
  const others = entries.filter(([other]) => other !== name);
  return keepNewest([...others, [name, value]], bound);
}

export function entryList<V>(object: Readonly<Record<string, V>>, bound?: number): Entries<V> {
  return Object.entries(object).reduce<Entries<V>>((list, [key, value]) => putEntry(list, key, value, bound), []);
}

export function keepNewest<T>(list: readonly T[], bound: number): readonly T[] {
  return list.length > bound ? list.slice(list.length - bound) : list;
}

export function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
