/**
 * What is on the page, each thing under the id that the server gives it. Whoever comes back in the middle of a run is told
 * of everything again; what stands there already is then written anew rather than a second time.
 */
export function createView(log) {
  /** id -> { element, pieces: [event id, text][] } */
  const entries = new Map();

  function entry(id, kind) {
    const known = entries.get(id);
    if (known) return known;
    const element = document.createElement("div");
    element.className = kind;
    log.append(element);
    const made = { element, pieces: [] };
    entries.set(id, made);
    return made;
  }

  const draw = ({ element, pieces }) => {
    // As text, never as HTML: it is whatever a model or a program said.
    element.textContent = pieces.map(([, text]) => text).join("");
    element.scrollIntoView({ block: "nearest" });
  };

  return {
    /** The whole of it, once it is known. */
    set(id, kind, text) {
      const shown = entry(id, kind);
      shown.pieces = [[0, text]];
      draw(shown);
    },
    /** A piece of it, from the event with that id. */
    append(id, kind, event, text) {
      const shown = entry(id, kind);
      shown.pieces = [...shown.pieces.filter(([at]) => at > 0 && at < event), [event, text]];
      draw(shown);
    },
    /** After a crash the step is done again: what came of it later than this event does not count. */
    discardAfter(event) {
      for (const [id, shown] of entries) {
        if (!shown.pieces.some(([at]) => at > event)) continue;
        shown.pieces = shown.pieces.filter(([at]) => at <= event);
        if (shown.pieces.length > 0) draw(shown);
        else {
          shown.element.remove();
          entries.delete(id);
        }
      }
    },
    ask(id, text, options, onChoice) {
      this.set(id, "question", `${text}\n`);
      const { element } = entries.get(id);
      for (const option of options) {
        const button = document.createElement("button");
        button.textContent = option;
        button.onclick = () => {
          for (const each of element.querySelectorAll("button")) each.disabled = true;
          onChoice(option);
        };
        element.append(button);
      }
    },
  };
}
