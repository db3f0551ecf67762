/** Findings that are left, by where they are (a folder, a file) and by kind. Tests compare them with the sources, so that they only shrink. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Counts lowered to what was found. They never rise. */
export function lowered(found: Counts, left: Counts): Counts {
  const places = Object.entries(left).map(([place, kinds]): [string, Counts[string]] => {
    const counts = Object.entries(kinds).map(([kind, count]): [string, number] => [kind, Math.min(count, found[place]?.[kind] ?? 0)]);
    return [place, Object.fromEntries(counts.filter(([, count]) => count > 0))];
  });
  return Object.fromEntries(places.filter(([, kinds]) => Object.keys(kinds).length > 0));
}
