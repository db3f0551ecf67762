import type { LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, teamKernel, teams, view } from "isoform";
import { COLOURS, OF_CLASS, PIXEL_BITS, classesOf } from "./factored.js";
import type { SortedSection } from "./lists.js";
import { listSums, sumsOfLists, upload } from "./lists.js";
import type { Shape } from "./shape.js";
import { FIELDS, ORDERS, instrumentLayout } from "./shape.js";
import { inSlices } from "./slices.js";
import type { StarRows } from "./system.js";

/*
 * The instrument's share of A^T u for rows as factors. Rows of one class and pixel column differ in their weights and in magnitude and colour of their
 * stars alone: three sums over them serve all six unknowns of each.
 */

/** Sums of a class and pixel column: of weights, and of weights times displacements by magnitude and colour. */
const PAIR = 1 + COLOURS;
/** Rows of a list, at most. */
const LONGEST_LIST = 256;

/** Weights of rows in the order of lists, and weights times displacements of their stars. */
const gatherWeights = kernel(
  "gatherWeights",
  { row: view(i32), star: view(i32), weight: view(f64), colours: view(f64, 2), sorted: view(f64, 2) },
  ({ row, star, weight, colours, sorted }, e) => {
    const i = row[e];
    sorted[e][0] = weight[i];
    for (let k = 0; k < COLOURS; k++) sorted[e][1 + k] = weight[i] * colours[star[i]][k];
  },
  () => [COLOURS],
);

/** For each list of a class and pixel column its three sums. */
const pairLists = listSums("pairLists", PAIR);

/** The five sums of each class over its pixel columns. */
const classTotals = teamKernel(
  "classTotals",
  { sums: view(f64, 2), first: view(i32), pixels: i32, perPixel: f64, totals: view(f64, 2) },
  ({ sums, first, pixels, perPixel, totals }, team) => {
    const start = team.index * pixels;
    const found = team.reduce(pixels, { magnitude: "sum", colour: "sum", s0: "sum", s1: "sum", s2: "sum" }, (pixel, r) => {
      let all = 0;
      for (let n = first[start + pixel]; n < first[start + pixel + 1]; n++) {
        all += sums[n][0];
        r.magnitude.add(sums[n][1]);
        r.colour.add(sums[n][2]);
      }
      const at = (pixel + 0.5) * perPixel - 0.5;
      r.s0.add(all);
      r.s1.add(2 * at * all);
      r.s2.add((6 * at * at - 0.5) * all);
    });
    totals[team.index][0] = found.magnitude;
    totals[team.index][1] = found.colour;
    totals[team.index][2] = found.s0;
    totals[team.index][3] = found.s1;
    totals[team.index][4] = found.s2;
  },
);

/** Adds the sums of pixel columns, over fields and intervals of time, to their unknowns, which begin at `along` and `across`. */
const pixelColumns = kernel(
  "pixelColumns",
  {
    sums: view(f64, 2),
    first: view(i32),
    along: i32,
    across: i32,
    columns: i32,
    intervals: i32,
    p: view(f64),
    t: view(f64, 1, { disjoint: true }),
  },
  ({ sums, first, along, across, columns, intervals, p, t }, axis, column) => {
    let total = 0;
    for (let interval = 0; interval < intervals; interval++) {
      for (let field = 0; field < 2; field++) {
        const pair = (2 * (2 * interval + axis) + field) * columns + column;
        for (let n = first[pair]; n < first[pair + 1]; n++) total += sums[n][0];
      }
    }
    const j = (axis === 1 ? across : along) + column;
    t[j] += p[j] * total;
  },
);

/** Adds to each unknown of classes its sums. */
const classColumns = kernel(
  "scaledClassColumns",
  { totals: view(f64), start: view(i32), place: view(i32), p: view(f64), t: view(f64) },
  ({ totals, start, place, p, t }, column) => {
    let total = 0;
    for (let e = start[column]; e < start[column + 1]; e++) total += totals[place[e]];
    t[column] += p[column] * total;
  },
);

/** Classes and pixel columns: those with rows are fewer. */
const pairsOf = (shape: Shape): number => classesOf(shape) * shape.pixels;

/** Device memory of the copy, without what slices are filled up with. */
export const factoredInstrumentFootprint = (shape: Shape): number => {
  const pairs = pairsOf(shape);
  return shape.observations * (8 * PAIR + 4) + Math.min(pairs, shape.observations) * (8 * PAIR + 12) + 4 * pairs;
};

/** The instrument's share of A^T u from weights by class and pixel column; `p` has the factors of the instrument's columns. */
export async function factoredInstrument(
  { device, shape, star, factors }: StarRows,
  p: View<"f64">,
  options: LaunchOptions,
): Promise<SortedSection> {
  const { sight, weight, place, colours } = factors!;
  const { ccds, pixels, intervals } = shape;
  const placeOf = (await device.queue.read(place)) as Int32Array;
  const groupOf = placeOf.map((n) => (n >> PIXEL_BITS) * pixels + (n & (2 ** PIXEL_BITS - 1)));
  const within = pairsOf(shape) / intervals;
  const slices = inSlices({ groups: pairsOf(shape), entries: Math.max(1, groupOf.length), groupOf, within }, LONGEST_LIST);
  const layout = sight.contiguous ? "right" : "left";
  const copy = await sumsOfLists(device, slices, { width: PAIR, layout }, options, {
    fill: (row, sorted) => device.run(gatherWeights, { row, star, weight, colours, sorted }, range(row.length), options),
    by: pairLists,
  });
  const first = device.from(i32, slices.first);
  const totals = device.array(f64, [classesOf(shape), OF_CLASS]);
  const byColumn = upload(device, placesOfColumns(shape));
  const { sums } = copy;
  const perPixel = 1 / pixels;
  const { smallAlong, smallAcross } = instrumentLayout(shape);
  const columns = ccds * pixels;
  return {
    sums: (u) => [copy.step(u)],
    finish: (t) => [
      {
        name: classTotals.name,
        launch: device.prepare(classTotals, { sums, first, pixels, perPixel, totals }, teams(classesOf(shape)), options),
      },
      {
        name: classColumns.name,
        launch: device.prepare(classColumns, { totals: totals.reshape(totals.size), ...byColumn, p, t }, range(t.length), options),
      },
      {
        name: pixelColumns.name,
        launch: device.prepare(
          pixelColumns,
          { sums, first, along: smallAlong, across: smallAcross, columns, intervals, p, t },
          range(2, columns),
          options,
        ),
      },
    ],
    free: () => [copy, first, totals, ...Object.values(byColumn)].forEach((one) => one.free()),
  };
}

/** For each unknown of the instrument the places among all classes' totals, [class][5], that belong to it. */
function placesOfColumns(shape: Shape): { start: Int32Array; place: Int32Array } {
  const { ccds, intervals } = shape;
  const layout = instrumentLayout(shape);
  const places: number[][] = Array.from({ length: layout.size }, () => []);
  for (let interval = 0; interval < intervals; interval++)
    for (const [axis, large] of [layout.largeAlong, layout.largeAcross].entries())
      for (let fieldCcd = 0; fieldCcd < FIELDS * ccds; fieldCcd++) {
        const first = OF_CLASS * (FIELDS * (2 * interval + axis) * ccds + fieldCcd);
        if (axis === 0) {
          places[layout.magnitude + (fieldCcd % ccds)].push(first);
          places[layout.colour + fieldCcd].push(first + 1);
        }
        for (let d = 0; d < ORDERS; d++) places[large[d] + fieldCcd * intervals + interval].push(first + COLOURS + d);
      }
  const start = new Int32Array(layout.size + 1);
  places.forEach((list, column) => (start[column + 1] = start[column] + list.length));
  return { start, place: Int32Array.from(places.flat()) };
}
