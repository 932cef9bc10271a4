type Properties<K extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[K], "innerHTML" | "outerHTML">
>;

/** Texts go in as texts: nothing that a model, a tool or a server says is ever markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties<K> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export function button(text: string, act: () => void, className = ""): HTMLButtonElement {
  return element("button", { type: "button", className, onclick: once(act) }, text);
}

/** The second click of a double click is meant for the same: two branches, or two turns taken back, are what nobody wants. */
export function once(act: () => void): (click: MouseEvent) => void {
  return ({ detail }) => {
    if (detail <= 1) act();
  };
}

/** One that is in the page's own markup. */
export function byId<K extends keyof HTMLElementTagNameMap>(tag: K, id: string): HTMLElementTagNameMap[K] {
  return document.querySelector<HTMLElementTagNameMap[K]>(`${tag}#${id}`) as HTMLElementTagNameMap[K];
}
