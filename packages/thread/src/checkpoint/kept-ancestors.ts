interface Row {
  seq: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
}

/** Finds the nearest ancestor of a row that stays. A way that was gone once is known to all who come by it. */
export function keptAncestors<R extends Row>(rows: readonly R[], kept: ReadonlySet<number>): (row: R) => R | undefined {
  const byId = new Map(rows.map((row) => [`${row.ns}\0${row.checkpoint_id}`, row]));
  const known = new Map<R, R | undefined>();

  return (row) => {
    const way: R[] = [];
    let at: R | undefined = row;
    let found: R | undefined;
    while (at) {
      if (known.has(at)) {
        found = known.get(at);
        break;
      }
      way.push(at);
      at = byId.get(`${at.ns}\0${at.parent_id}`);
      if (at && kept.has(at.seq)) {
        found = at;
        break;
      }
    }
    for (const one of way) known.set(one, found);
    return found;
  };
}
