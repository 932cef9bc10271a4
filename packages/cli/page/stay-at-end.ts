/** Whoever is as near to the end as this is at it. */
const NEAR = 40;

/**
 * Whoever is at the end stays there, whatever comes and however the room for it changes; whoever reads further up is not
 * moved. What is returned goes to the end.
 */
export function stayAtEnd(scroll: HTMLElement): () => void {
  let isAtEnd = true;
  let end = 0;
  const endNow = () => scroll.scrollHeight - scroll.clientHeight;
  const settle = () => {
    end = endNow();
    if (isAtEnd) scroll.scrollTop = end;
  };
  scroll.onscroll = () => {
    // Told later than it happened: what has grown since has moved nobody away from the end.
    isAtEnd = scroll.scrollTop > Math.min(end, endNow()) - NEAR;
  };
  const changes = { childList: true, subtree: true, characterData: true, attributeFilter: ["aria-busy"] };
  new MutationObserver(settle).observe(scroll, changes);
  new ResizeObserver(settle).observe(scroll);
  return () => {
    isAtEnd = true;
    settle();
  };
}
