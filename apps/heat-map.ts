/** A picture of one value for each cell of a rectangle. */
export interface HeatMap {
  readonly title: string;
  /** What the colours mean: `speed / lid speed`. */
  readonly quantity: string;
  readonly width: number;
  readonly height: number;
  /** Row by row, the lowest first. NaN is drawn in grey. */
  readonly values: ArrayLike<number>;
}

/** From dark blue over green to yellow, of even steps in lightness. */
const COLOURS = [
  "#440154",
  "#482173",
  "#433e85",
  "#38598c",
  "#2d708e",
  "#25858e",
  "#1e9b8a",
  "#2ab07f",
  "#52c569",
  "#86d549",
  "#c2df23",
  "#fde725",
];
const NOTHING = "#bbbbbb";

const PIXELS = 640;
const MARGIN = 12;
const LEGEND = 56;

/** The picture as an SVG file: bands of colour between the least and the greatest value, with a legend. */
export function heatMap({ title, quantity, width, height, values }: HeatMap): string {
  const known = Array.from(values).filter((v) => !Number.isNaN(v));
  const least = known.reduce((a, b) => Math.min(a, b), Infinity);
  const span = known.reduce((a, b) => Math.max(a, b), -Infinity) - least || 1;
  const band = (v: number): number =>
    Number.isNaN(v) ? COLOURS.length : Math.min(COLOURS.length - 1, Math.floor(((v - least) / span) * COLOURS.length));

  const paths = Array.from({ length: COLOURS.length + 1 }, () => [] as string[]);
  for (let y = 0; y < height; y++)
    for (let x = 0, end = 0; x < width; x = end) {
      const colour = band(values[y * width + x]);
      for (end = x + 1; end < width && band(values[y * width + end]) === colour;) end++;
      paths[colour].push(`M${x} ${height - 1 - y}h${end - x}v1h${x - end}z`);
    }

  const scale = PIXELS / Math.max(width, height);
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  const fills = paths.map((runs, n) => (runs.length ? `<path fill="${COLOURS[n] ?? NOTHING}" d="${runs.join("")}"/>` : "")).join("");
  const step = w / COLOURS.length;
  const legend = COLOURS.map(
    (fill, n) => `<rect x="${(n * step).toFixed(1)}" width="${step.toFixed(1)}" height="12" fill="${fill}"/>`,
  ).join("");
  const text = (x: number, anchor: string, content: string) => `<text x="${x}" y="28" text-anchor="${anchor}">${escape(content)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w + 2 * MARGIN} ${h + 2 * MARGIN + LEGEND}" role="img" font-family="sans-serif" font-size="13">` +
    `<title>${escape(title)}</title><rect width="100%" height="100%" fill="white"/>` +
    `<g transform="translate(${MARGIN} ${MARGIN}) scale(${scale})" shape-rendering="crispEdges" stroke="none">${fills}</g>` +
    `<g transform="translate(${MARGIN} ${h + 2 * MARGIN})">${legend}` +
    text(0, "start", least.toPrecision(3)) +
    text(w / 2, "middle", `${title}: ${quantity}`) +
    text(w, "end", (least + span).toPrecision(3)) +
    `</g></svg>\n`
  );
}

/** Text between tags and in quoted attributes. */
export const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
