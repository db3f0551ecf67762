import { range } from "../../device/launch/policy.js";
import { list } from "../../device/launch/list-param.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { i32, sum, view } from "../../kernel/declare/params.js";
import { struct } from "../../kernel/declare/struct.js";
import { reals, type ConformanceCase } from "../case.js";
import { expectSame } from "../expect.js";
import { ofType } from "../real.js";
import { strictFold } from "../strict-fold.js";
import { noiseValue } from "../values.js";

const kept = ofType((real) =>
  kernel("kept", { x: view(real), bound: real, values: list(real), total: sum(real) }, ({ x, bound, values, total }, i) => {
    total.add(x[i]);
    if (x[i] < bound) values.push(x[i]);
  }),
);

const crossings = ofType((real) => {
  const Crossing = struct("Crossing", { row: i32, place: real });
  const body = kernel(
    "crossings",
    { x: view(real, 2), found: list(Crossing, 3) },
    ({ x, found }, i, j) => {
      for (let k = 1; k < 4; k++) if (x[i][j] * k > 2) found.push(Crossing({ row: i, place: x[i][j] - k }));
    },
    () => [Crossing],
  );
  return { Crossing, body };
});

export const listCases: ConformanceCase[] = [
  ...reals(181, "lists in the order of the range, beside a sum", async (device, real, r) => {
    for (const precision of ["strict", "fast"] as const)
      for (const n of [0, 1, 255, 256, 257, 5000])
        for (const bound of [0, 0.25, 1]) {
          const xs = Array.from({ length: n }, (_, k) => r(noiseValue(k)));
          const x = device.from(real, n === 0 ? [0] : xs);
          const values = device.list(real, n + 1);
          const results = await device.run(kept(real), { x, bound, values }, range(n), { precision });
          const expected = xs.filter((value) => value < bound);
          expectSame(
            [results.values, await values.length()],
            [expected.length, expected.length],
            `length of ${n} below ${bound}, ${precision}`,
          );
          const elements = await device.queue.read(values.view);
          expectSame([...elements].slice(0, expected.length), expected, `elements of ${n} below ${bound}, ${precision}`);
          if (precision === "strict") expectSame([results.total], [strictFold([xs], (p, q) => r(p + q), 0)], `sum of ${n}`);
          x.free();
          values.free();
        }
  }),

  ...reals(182, "lists of records, several of an element, over planes", async (device, real, r) => {
    const [a, b] = [9, 301];
    const rows = Array.from({ length: a }, (_, i) => Array.from({ length: b }, (_, j) => r(noiseValue(i * b + j))));
    const { Crossing, body } = crossings(real);
    const found = device.list(Crossing, 3 * a * b);
    const expected = rows
      .slice(1)
      .flatMap((row, i) =>
        row.slice(2).flatMap((value) => [1, 2, 3].filter((k) => r(value * k) > 2).map((k) => ({ row: i + 1, place: r(value - k) }))),
      );
    const results = await device.run(body, { x: device.from(real, rows.flat(), [a, b]), found }, range([1, a], [2, b]));
    expectSame([results.found], [expected.length], "length");
    const [places, numbers] = [await device.queue.read(found.view.place), await device.queue.read(found.view.row)];
    expectSame(
      [...places].slice(0, expected.length),
      expected.map(({ place }) => place),
      "places",
    );
    expectSame(
      [...numbers].slice(0, expected.length),
      expected.map(({ row }) => row),
      "rows",
    );
    const small = device.list(Crossing, 5);
    const refused = await device.run(body, { x: device.from(real, rows.flat(), [a, b]), found: small }, range(a, b)).then(
      () => "nothing",
      (error: Error) => error.message,
    );
    expectSame([refused.indexOf("found has room for 5 elements and")], [0], "no room is told at the place");
    expectSame([...(await device.queue.read(small.count))], [5], "and what it holds");
  }),
];
