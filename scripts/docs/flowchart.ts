import { svgElement, svgText } from "../../src/draw/svg.js";

/* Flow charts of Mermaid as drawings, as far as the pages need it: `flowchart BT` or `LR`, `a & b -- label --> c["its label"] --> d`. */

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
}

interface Chart {
  /** Labels of nodes. */
  readonly nodes: ReadonlyMap<string, string>;
  readonly arrows: readonly Arrow[];
}

const ARROW = / *--(?: (.+?) --)?> */;

/** Throws for a line that it does not understand. */
function parse(lines: readonly string[]): Chart {
  const nodes = new Map<string, string>();
  const arrows: Arrow[] = [];
  const group = (words: string): string[] =>
    words.split(" & ").map((word) => {
      const [, name, label] = /^(\w+)(?:\["([^"]*)"\])?$/.exec(word.trim()) ?? [];
      if (name === undefined) throw new Error(`flow chart: "${word}" is not understood`);
      if (label !== undefined || !nodes.has(name)) nodes.set(name, label ?? name);
      return name;
    });
  for (const line of lines) {
    const [first, ...rest] = line.trim().split(ARROW);
    let before = group(first);
    for (let n = 0; n < rest.length; n += 2) {
      const [label, after] = [rest[n] as string | undefined, group(rest[n + 1])];
      const all = before.flatMap((from) => after.map((to) => ({ from, to })));
      // What all of them share is written once.
      arrows.push(...all.map((arrow, k) => ({ ...arrow, ...(label !== undefined && k === all.length - 1 && { label }) })));
      before = after;
    }
  }
  return { nodes, arrows };
}

const [ROW, HEIGHT, GAP, MARGIN] = [72, 32, 24, 12];
/** Of a letter, at most; and the share of it that letters have on average. */
const [LETTER, NARROW] = [8, 0.85];

/** A node in its row, or the place where an arrow passes through. */
interface Place {
  readonly label?: string;
  readonly width: number;
  x: number;
}

/**
 * The drawing, in the colours of the page around it, from top to bottom (`BT`: from bottom to top; `LR` would be too wide for a page).
 * @param source what stands between the fences
 */
export function flowchart(source: string): string {
  const [head, ...lines] = source.trim().split("\n");
  const up = head.startsWith("flowchart BT");
  const { nodes, arrows } = parse(lines);
  const depth = depths([...nodes.keys()], arrows);
  const rows: Place[][] = Array.from({ length: Math.max(...depth.values()) + 1 }, () => []);
  const places = new Map<string, Place>();
  for (const [name, label] of nodes) {
    const place = { label, width: label.length * LETTER + 20, x: 0 };
    places.set(name, place);
    rows[depth.get(name)!].push(place);
  }
  const paths = arrows.map(({ from, to, label }) => {
    const [first, last] = [depth.get(from)!, depth.get(to)!];
    const between = Array.from({ length: last - first - 1 }, (_, n): Place => {
      const place = { width: 0, x: 0 };
      rows[first + 1 + n].push(place);
      return place;
    });
    return { label, first, places: [places.get(from)!, ...between, places.get(to)!] };
  });
  arrange(
    rows,
    paths.flatMap((path) => path.places.slice(1).map((to, n) => [path.places[n], to] as const)),
  );
  const labels = paths.flatMap(({ label, first, places: [from, to] }) => {
    if (label === undefined) return [];
    const halfway = (path: (typeof paths)[number]): number => {
      const n = first - path.first;
      return n >= 0 && n + 1 < path.places.length ? (path.places[n].x + path.places[n + 1].x) / 2 : -Infinity;
    };
    const x = (from.x + to.x) / 2;
    // Away from an arrow on the right.
    const onLeft = paths.some((path) => halfway(path) > x);
    return [{ label, row: first, x: onLeft ? x - 24 - label.length * LETTER * NARROW : x + 12 }];
  });
  const left = Math.min(...rows.flat().map(({ x, width }) => x - width / 2), ...labels.map(({ x }) => x)) - MARGIN;
  const right =
    Math.max(...rows.flat().map(({ x, width }) => x + width / 2), ...labels.map(({ x, label }) => x + label.length * LETTER)) + MARGIN;
  const height = 2 * MARGIN + HEIGHT + ROW * (rows.length - 1);
  const middle = (row: number): number => MARGIN + HEIGHT / 2 + ROW * (up ? rows.length - 1 - row : row);
  const side = up ? -1 : 1;
  const drawn = paths.map(({ places: path, first }) => {
    let d = `M${path[0].x} ${middle(first) + (side * HEIGHT) / 2}`;
    for (const [n, { x }] of path.slice(1).entries()) {
      const [from, to] = [middle(first + n), middle(first + n + 1)];
      const [start, end] = [from + (n === 0 ? (side * HEIGHT) / 2 : 0), to - (n === path.length - 2 ? side * (HEIGHT / 2 + 5) : 0)];
      d += ` C${path[n].x} ${(start + end) / 2} ${x} ${(start + end) / 2} ${x} ${end}`;
    }
    return svgElement("path", { d, fill: "none", stroke: "currentColor", "stroke-opacity": 0.6, "marker-end": "url(#arrow)" });
  });
  const captions = labels.map(({ label, row, x }) => svgText(x, (middle(row) + middle(row + 1)) / 2 + 4, label, { "fill-opacity": 0.75 }));
  const boxes = rows.flatMap((row, n) =>
    row
      .filter(({ label }) => label !== undefined)
      .map(({ label, x, width }) => {
        const [centre, top] = [middle(n), middle(n) - HEIGHT / 2];
        const box = { x: x - width / 2, y: top, width, height: HEIGHT, rx: 6, fill: "none", stroke: "currentColor" };
        return svgElement("rect", box) + svgText(x, centre + 5, label!, { "text-anchor": "middle" });
      }),
  );
  const tip = svgElement("path", { d: "M0 0 L8 4 L0 8 z", fill: "currentColor" });
  const marker = svgElement("marker", { id: "arrow", markerWidth: 8, markerHeight: 8, refX: 3, refY: 4, orient: "auto" }, tip);
  const said = arrows.map(({ from, to }) => `${nodes.get(from)} to ${nodes.get(to)}`).join(", ");
  const frame = { viewBox: `${left} 0 ${right - left} ${height}`, role: "img", "aria-label": `Flow chart: ${said}` };
  const look = {
    "font-size": 14,
    fill: "currentColor",
    style: `max-width: min(100%, ${right - left}px); margin: 16px auto; display: block`,
  };
  return svgElement("svg", { "v-pre": "", ...frame, ...look }, svgElement("defs", {}, marker), ...drawn, ...boxes, ...captions);
}

/** Rows, so that each arrow leads down by one at least, and all rows as near to their ends as they can be. Throws where arrows go round. */
function depths(names: readonly string[], arrows: readonly Arrow[]): ReadonlyMap<string, number> {
  const depth = new Map(names.map((name) => [name, 0]));
  for (let round = 0, changed = true; changed; round++) {
    if (round > names.length) throw new Error("flow chart: its arrows go round");
    changed = false;
    for (const { from, to } of arrows)
      if (depth.get(to)! <= depth.get(from)!) {
        depth.set(to, depth.get(from)! + 1);
        changed = true;
      }
  }
  return depth;
}

/** Places each row below what leads to it, in several passes, with neighbours apart. */
function arrange(rows: readonly Place[][], links: readonly (readonly [Place, Place])[]): void {
  const spread = (row: Place[]): void => {
    // The order is that of the wishes; then each is moved as little as its neighbours ask for.
    const wish = new Map(row.map((place) => [place, place.x]));
    row.sort((a, b) => wish.get(a)! - wish.get(b)!);
    for (const [n, place] of row.entries())
      if (n > 0) place.x = Math.max(place.x, row[n - 1].x + (row[n - 1].width + place.width) / 2 + GAP);
    const shift = row.reduce((sum, place) => sum + place.x - wish.get(place)!, 0) / row.length;
    for (const place of row) place.x -= shift;
  };
  for (const row of rows) {
    for (const [n, place] of row.entries()) place.x = n * 100;
    spread(row);
  }
  for (let pass = 0; pass < 24; pass++) {
    const down = pass % 2 === 0;
    for (const row of down ? rows : rows.toReversed()) {
      for (const place of row) {
        const near = links.flatMap(([from, to]) => (down ? (to === place ? [from.x] : []) : from === place ? [to.x] : []));
        if (near.length > 0) place.x = near.reduce((a, b) => a + b) / near.length;
      }
      spread(row);
    }
  }
}
