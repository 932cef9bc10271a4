export interface TreeNode {
  readonly id: string;
  readonly parent_id: string | null;
}

export interface TreeLine<T> {
  readonly graph: string;
  /** Undefined on a line that only joins branches. */
  readonly node: T | undefined;
}

/**
 * Nodes, children before their parents, as a graph of lanes: `*` is a node, `|` a branch that goes on below. A lane waits for the
 * parent of what was last drawn in it; lanes that wait for the same parent join above it.
 */
export function drawTree<T extends TreeNode>(nodes: readonly T[]): TreeLine<T>[] {
  const lines: TreeLine<T>[] = [];
  let lanes: (string | null)[] = [];
  for (const node of nodes) {
    const waiting = lanes.flatMap((wanted, lane) => (wanted === node.id ? [lane] : []));
    const own = waiting[0] ?? lanes.push(node.id) - 1;
    for (const lane of waiting.slice(1).reverse()) {
      lines.push({ graph: joinLanes(lanes.length, own, lane), node: undefined });
      lanes = lanes.toSpliced(lane, 1);
    }
    lines.push({ graph: lanes.map((_, lane) => (lane === own ? "*" : "|")).join(" "), node });
    lanes = node.parent_id === null ? lanes.toSpliced(own, 1) : lanes.with(own, node.parent_id);
  }
  return lines;
}

/** `|/` brings a lane to its neighbour, `|_|/` further. */
function joinLanes(count: number, into: number, lane: number): string {
  const left = Array.from({ length: lane }, (_, index) => `|${index === lane - 1 ? "/" : index < into ? " " : "_"}`);
  return left.join("") + " |".repeat(count - lane - 1);
}
