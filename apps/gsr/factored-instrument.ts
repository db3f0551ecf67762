import type { Args, Kernel, LaunchOptions, Params, Policy, View } from "isoform";
import { f64, i32, kernel, range, teamKernel, view } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { NarrowRows } from "./narrow-rows.js";
import { REALS, ROUND, byCoefficients, coefficientBytes } from "./coefficients.js";
import { factorsOf } from "./narrow-rows.js";
import { COLOURS, OF_CLASS, PIXEL_BITS, classesOf } from "./factored.js";
import type { ListStep, SortedSection } from "./lists.js";
import { buffers, listSums, sidesOf, sumsOfLists, upload } from "./lists.js";
import type { Shape } from "./shape.js";
import { FIELDS, ORDERS, instrumentLayout } from "./shape.js";
import { bySides, teamsOfSides } from "./sides.js";
import { inSlices } from "./slices.js";

/*
 * The instrument's share of A^T u for rows as factors. Rows of one class and pixel column differ in their weights and in magnitude and colour of their
 * stars alone: three sums over them serve all six unknowns of each.
 */

/** Sums of a class and pixel column: of weights, and of weights times displacements by magnitude and colour. */
const PAIR = 1 + COLOURS;
/** Rows of a list, at most. */
const LONGEST_LIST = 256;

/** Weights of rows in the order of lists, and weights times displacements of their stars. */
const gatherWeights = byCoefficients((real) => {
  const round = ROUND[real.type];
  return kernel(
    "gatherWeights",
    { row: view(i32), star: view(i32), weight: view(real), colours: view(f64, 2), sorted: view(real, 2) },
    ({ row, star, weight, colours, sorted }, e) => {
      const i = row[e];
      sorted[e][0] = weight[i];
      for (let k = 0; k < COLOURS; k++) sorted[e][1 + k] = round(weight[i] * colours[star[i]][k]);
    },
    () => [COLOURS, round],
  );
});

/** For each list of a class and pixel column its three sums. */
const pairLists = listSums("pairLists", PAIR, 1);

/** The five sums of each class over its pixel columns, a team for each side. */
const classTotals = bySides((sides) =>
  teamKernel(
    "classTotals",
    { sums: view(f64, 3), first: view(i32), pixels: i32, perPixel: f64, totals: view(f64, 3, { disjoint: true }) },
    ({ sums, first, pixels, perPixel, totals }, team) => {
      const ofClass = sides === 1 ? team.index : Math.trunc(team.index / sides);
      const side = sides === 1 ? 0 : team.index % sides;
      const start = ofClass * pixels;
      const found = team.reduce(pixels, { s: ["sum", 5] }, (pixel, r) => {
        const all = new Float64Array(3);
        for (let n = first[start + pixel]; n < first[start + pixel + 1]; n++) {
          for (let k = 0; k < 3; k++) all[k] += sums[n][k][side];
        }
        const at = (pixel + 0.5) * perPixel - 0.5;
        r.s.add(0, all[1]);
        r.s.add(1, all[2]);
        r.s.add(2, all[0]);
        r.s.add(3, 2 * at * all[0]);
        r.s.add(4, (6 * at * at - 0.5) * all[0]);
      });
      for (let k = 0; k < 5; k++) totals[ofClass][k][side] = found.s[k];
    },
    () => [sides],
  ),
);

/** Adds the sums of pixel columns, over fields and intervals of time, to their unknowns, which begin at `along` and `across`. */
const pixelColumns = bySides((sides) =>
  kernel(
    "pixelColumns",
    {
      sums: view(f64, 3),
      first: view(i32),
      along: i32,
      across: i32,
      columns: i32,
      intervals: i32,
      p: view(f64),
      t: view(f64, 2, { disjoint: true }),
    },
    ({ sums, first, along, across, columns, intervals, p, t }, axis, column) => {
      const total = new Float64Array(sides);
      for (let interval = 0; interval < intervals; interval++) {
        for (let field = 0; field < 2; field++) {
          const pair = (2 * (2 * interval + axis) + field) * columns + column;
          for (let n = first[pair]; n < first[pair + 1]; n++) {
            for (let side = 0; side < sides; side++) total[side] += sums[n][0][side];
          }
        }
      }
      const j = (axis === 1 ? across : along) + column;
      for (let side = 0; side < sides; side++) t[j][side] += p[j] * total[side];
    },
    () => [sides],
  ),
);

/** Adds to each unknown of classes its sums. */
const classColumns = bySides((sides) =>
  kernel(
    "scaledClassColumns",
    { totals: view(f64, 2), start: view(i32), place: view(i32), p: view(f64), t: view(f64, 2) },
    ({ totals, start, place, p, t }, column) => {
      const total = new Float64Array(sides);
      for (let e = start[column]; e < start[column + 1]; e++) {
        for (let side = 0; side < sides; side++) total[side] += totals[place[e]][side];
      }
      for (let side = 0; side < sides; side++) t[column][side] += p[column] * total[side];
    },
    () => [sides],
  ),
);

/** Classes and pixel columns: those with rows are fewer. */
const pairsOf = (shape: Shape): number => classesOf(shape) * shape.pixels;

/** Sums of all lists and classes, about. */
export const factoredSums = (shape: Shape): number => PAIR * Math.min(pairsOf(shape), shape.observations) + OF_CLASS * classesOf(shape);

/** Device memory of the copy, without what slices are filled up with. */
export const factoredInstrumentFootprint = (shape: Shape, type: CoefficientType): number => {
  const pairs = pairsOf(shape);
  return shape.observations * (coefficientBytes(type) * PAIR + 4) + Math.min(pairs, shape.observations) * (8 * PAIR + 12) + 4 * pairs;
};

/** The instrument's share of A^T u from weights by class and pixel column; `p` has the factors of the instrument's columns. */
export async function factoredInstrument(rows: NarrowRows, p: View<"f64">, options: LaunchOptions): Promise<SortedSection> {
  const { device, shape, star, factors } = rows;
  const { place, colours } = factors!;
  const { sight, weight } = factorsOf(rows);
  const { type } = weight;
  const { ccds, pixels, intervals } = shape;
  const placeOf = (await device.queue.read(place)) as Int32Array;
  const groupOf = placeOf.map((n) => (n >> PIXEL_BITS) * pixels + (n & (2 ** PIXEL_BITS - 1)));
  const within = pairsOf(shape) / intervals;
  const slices = inSlices({ groups: pairsOf(shape), entries: Math.max(1, groupOf.length), groupOf, within }, LONGEST_LIST);
  const layout = sight.contiguous ? "right" : "left";
  const sorted = device.array(REALS[type], [slices.entries.length, PAIR], { layout });
  const copy = await sumsOfLists(device, slices, sorted, options, {
    fill: (row) => device.run(gatherWeights(type, 1), { row, star, weight, colours, sorted }, range(row.length), options),
    by: (sides) => pairLists(type, sides),
    sidesAtOnce: 1,
  });
  const first = device.from(i32, slices.first);
  const totals = buffers(device, [classesOf(shape), OF_CLASS]);
  const byColumn = upload(device, placesOfColumns(shape));
  const perPixel = 1 / pixels;
  const { smallAlong, smallAcross } = instrumentLayout(shape);
  const columns = ccds * pixels;
  return {
    sums: (u) => [copy.step(u)],
    finish: (t) => {
      const sides = sidesOf(t);
      const [sums, all] = [copy.sums(sides), totals(sides)];
      const step = <P extends Params>(by: Kernel<P>, args: Args<P>, policy: Policy): ListStep => ({
        name: by.name,
        launch: device.prepare(by, args, policy, options),
      });
      const ofPixels = { sums, first, along: smallAlong, across: smallAcross, columns, intervals, p, t };
      return [
        step(classTotals(sides), { sums, first, pixels, perPixel, totals: all }, teamsOfSides(classesOf(shape), sides)),
        step(classColumns(sides), { totals: all.reshape(all.size / sides, sides), ...byColumn, p, t }, range(t.length)),
        step(pixelColumns(sides), ofPixels, range(2, columns)),
      ];
    },
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
