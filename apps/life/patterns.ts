import { LaunchError } from "isoform";

/** Known patterns: rows from the top, `#` for a living cell. */
export const PATTERNS = {
  block: ["##", "##"],
  blinker: ["###"],
  glider: [".#.", "..#", "###"],
  "r-pentomino": [".##", "##.", ".#."],
  diehard: ["......#.", "##......", ".#...###"],
  acorn: [".#.....", "...#...", "##..###"],
  "glider-gun": [
    "........................#...........",
    "......................#.#...........",
    "............##......##............##",
    "...........#...#....##............##",
    "##........#.....#...##..............",
    "##........#...#.##....#.#...........",
    "..........#.....#.......#...........",
    "...........#...#....................",
    "............##......................",
  ],
} as const satisfies Record<string, readonly string[]>;
/** The name of a pattern in `PATTERNS`. */
export type PatternName = keyof typeof PATTERNS;

/** A function of coordinates that is 1 where the pattern, put into the middle of the rectangle, lives. Throws LaunchError if it does not fit. */
export function centred(name: PatternName, width: number, height: number): (x: number, y: number) => number {
  const rows: readonly string[] = PATTERNS[name];
  const columns = rows[0].length;
  if (columns > width || rows.length > height)
    throw new LaunchError(`the pattern "${name}" has ${columns} x ${rows.length} cells, the grid ${width} x ${height}: take a larger one`);
  const [left, top] = [Math.floor((width - columns) / 2), Math.floor((height - rows.length) / 2)];
  return (x, y) => (rows[y - top]?.[x - left] === "#" ? 1 : 0);
}
