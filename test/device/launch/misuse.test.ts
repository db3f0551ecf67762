import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { inspect } from "node:util";
import { f64, fixed, i32, kernel, open, range, scatter, sum, table, teamKernel, teams, view } from "isoform";
import { dense, sparse } from "isoform/grid";
import { writeImage } from "isoform/io";
import { permute, scan, sortByKey } from "isoform/patterns";
import { devices } from "isoform/set";
import { skeleton, swap } from "isoform/skeleton";
import { mirror, records } from "isoform/views";

/* What TypeScript would refuse, and a program in JavaScript does: each is told with the thing, its line where there is one, and the remedy. */

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

const device: Any = await open("js");
const set: Any = await devices([device]);
after(() => device.close());
const y = device.array(f64, 4);
const one = kernel("one", { y: view(f64) }, ({ y }, i) => {
  y[i] = 1;
});
const team = teamKernel("team", { y: view(f64) }, ({ y }, team) => {
  y[team.index] = 1;
});
const grid: Any = dense(set, [4, 4]);
const u = grid.field("u", f64);
const fill = grid.container("fill", { u }, ({ u }: Any, c: Any) => {
  u[c] = 1;
});

const refused = (work: () => unknown, message: RegExp): Promise<void> =>
  assert.rejects(async () => work(), { name: "LaunchError", message });

describe("launches", () => {
  it("over a number", async () => {
    await refused(() => device.run(one, { y }, 4), /kernel "one" \(.*misuse.*\) on js: it is given 4 .* write range\(n\)/);
    await refused(() => device.run(team, { y }, [4]), /kernel "team" .* is given an Array .* write teams\(n\)/);
  });
  it("of what is no kernel", async () => {
    await refused(() => device.run(undefined, { y }, range(4)), /js is given nothing to run; declare it with kernel\(\.\.\.\)/);
    await refused(() => device.prepare(() => 1, { y }, range(4)), /js is given a function to run/);
    await refused(() => device.run(one, undefined, range(4)), /kernel "one" .* is given nothing for its arguments/);
  });
  it("submitted as kernels", async () => {
    await refused(() => device.queue.submit(one), /"one" is not a launch, .* submit device\.prepare\(/);
    await refused(() => device.queue.submit(), /nothing is not a launch/);
  });
  it("in a precision that there is not", async () => {
    device.precision = "exact";
    await refused(() => device.run(one, { y }, range(4)), /no precision "exact"; use "strict" or "fast"/);
    device.precision = "fast";
  });
});

describe("options that there are not", () => {
  const cases: [string, () => unknown][] = [
    ["chekced", () => device.run(one, { y }, range(4), { chekced: true })],
    ["precision", () => open("js", { precision: "strict" } as Any)],
    ["thread", () => devices("js", { thread: 2 } as Any)],
    ["layot", () => device.array(f64, 4, { layot: "left" })],
    ["layot", () => device.from(f64, [1], 1, { layot: "left" })],
    ["sizes", () => teams(3, { sizes: 4 } as Any)],
    ["tiles", () => range(4, 4, { tiles: [2, 2] } as Any)],
    ["disjont", () => view(f64, 1, { disjont: true } as Any)],
    ["exclusiv", () => scan(device, { input: y, output: device.array(f64, 4), op: "sum", exclusiv: true } as Any)],
    ["periodc", () => dense(set, [4, 4], { periodc: true } as Any)],
    ["ocx", () => skeleton(set, "s", [fill], { ocx: "none" } as Any)],
    ["untill", () => skeleton(set, "s", [fill]).run(1, { untill: () => true } as Any)],
  ];
  for (const [name, work] of cases) it(name, () => refused(work, new RegExp(`has no option "${name}"; it has \\w+`)));
});

describe("types and operations that there are not", () => {
  const place = String.raw`misuse\.test\.[jt]s:\d+\)`;
  const cases: [string, () => unknown, RegExp][] = [
    [
      "view(undefined)",
      () => view(undefined as Any),
      new RegExp(String.raw`view\(\.\.\.\) \(.*${place} is given nothing for a type; use f64`),
    ],
    ["view of a word", () => view("f64" as Any), /is given a string for a type/],
    ["sum(undefined)", () => sum(undefined as Any), new RegExp(`sum.*${place} is given nothing`)],
    ["fixed of a word", () => fixed("i32" as Any), /fixed.* is given a string/],
    ["scatter by or", () => scatter(i32, 1, "or" as Any), /scatter.* folds by "or"; use sum, min, max/],
    [
      "scan by mul",
      () => scan(device, { input: y, output: y, op: "mul" } as Any),
      /scan has no operation "mul"; use "sum", "min" or "max"/,
    ],
    ["a layout", () => device.array(f64, 4, { layout: "up" }), /no layout "up"; use "right" or "left"/],
    ["no extents", () => device.array(f64), /given nothing for its extents/],
    ["from of no type", () => device.from(undefined, [1]), /needs an element type/],
  ];
  for (const [name, work, message] of cases) it(name, () => refused(work, message));
});

describe("parameters, ranges and views that are none", () => {
  const cases: [string, () => unknown, RegExp][] = [
    [
      "a type that is not imported",
      () =>
        device.run(
          kernel("none", { y: undefined } as Any, () => {}),
          { y },
          range(4),
        ),
      /kernel "none" .* y is declared as nothing, which takes no argument; declare view\(f64\)/,
    ],
    ["an argument for a constant", () => device.run(kernel("c", { c: 3 }, () => {}) as Any, { c: 4 }, range(4)), /c is declared as 3/],
    ["rank 0", () => view(f64, 0 as Any), /view.*misuse.* is given 0 for its rank; use a whole number from 1 to 7/],
    ["options for a rank", () => scatter(f64, { op: "or" } as Any), /scatter.* is given an Object for its rank/],
    ["numbers for options", () => teams(2, 4 as Any), /teams\(\.\.\.\) is given 4 for its options; write { size: \.\.\. }/],
    ["options for a league", () => teams({ league: 2 } as Any), /a league of an Object teams/],
    ["a range of words", () => range("10" as Any), /range axis 0 is given a string: give a number of indices, or \[begin, end\]/],
    ["a range of one bound", () => range([10] as Any), /range axis 0 is given an Array/],
    ["nothing to read", () => device.queue.read(undefined), /nothing is given to read; give a view of this device/],
  ];
  for (const [name, work, message] of cases) it(name, () => refused(work, message));
});

describe("one thing in place of another", () => {
  const place = String.raw`misuse\.test\.[jt]s:\d+`;
  const cases: [string, () => unknown, RegExp][] = [
    ["a promise for a device", () => devices(open("js") as Any), /devices is given a Promise; give names, .*what await open/],
    ["a number for a device", () => devices(5 as Any), /devices is given 5/],
    ["a device for a set", () => dense(device, [4, 4]), new RegExp(`grid, .*${place}.* it is given a JsDevice; give what await devices`)],
    ["numbers for extents", () => dense(set, 4 as Any, 4 as Any), /it is given 4; give its numbers of cells as \[nx, ny\]/],
    [
      "options for active cells",
      () => sparse(set, [4, 4], { active: () => true } as Any),
      /is given an Object for its active cells; give a function/,
    ],
    ["a field of no type", () => grid.field("v"), /field "v" needs an element type/],
    ["a scalar of no type", () => grid.scalar("s"), /scalar "s" needs an element type/],
    ["values of nothing", () => u.fill(), /field "u" is given nothing; fill it with a number, or a function/],
    ["a kernel for a container", () => grid.run(one), /grid\.run is given an Object; give what grid\.container.*device\.run runs kernels/],
    ["a kernel for a step", () => skeleton(set, "s", [one as Any]), /skeleton "s" is given an Object; give containers, swaps and every/],
    ["a step for steps", () => skeleton(set, "s", fill), /skeleton "s" is given an Object; give a list of steps/],
    ["steps for a name", () => skeleton(set, [fill] as Any, undefined as Any), /is given an Array; give a name/],
    ["a device for a set of a skeleton", () => skeleton(device, "s", [fill]), /a skeleton is given a JsDevice; give what await devices/],
    ["one field for two", () => (swap as Any)(u), new RegExp(`swap .*${place}.* is given nothing; give two fields`)],
    ["views for fields", () => swap(y, y), /is given a View; give two fields, or two scalars/],
    ["a view for options of permute", () => permute(device, y), /permute is given a View for its options; write { permutation: \.\.\. }/],
    [
      "an array for a view of permute",
      () => permute(device, { permutation: [1], input: [y] } as Any),
      /for its permutation, is given an Array; give a view/,
    ],
    [
      "a view for a list of views",
      () => permute(device, { permutation: y, input: y } as Any),
      /for its input, is given a View; give a list of views/,
    ],
    ["no keys", () => sortByKey(device, {} as Any), /sortByKey, for its keys, is given nothing; give a view/],
    [
      "values of a sort",
      () => sortByKey(device, { keys: y, values: y } as Any),
      /sortByKey has no option "values"; it has keys, permutation/,
    ],
    [
      "a name for a device",
      () => scan("js" as Any, { input: y, output: device.array(f64, 4), op: "sum" }),
      /is given a string; give the device first/,
    ],
    [
      "a typed array for a view",
      () => scan(device, { input: new Float64Array(4), output: y, op: "sum" } as Any),
      /scan, for its input, is given a Float64Array/,
    ],
    ["records of nothing", () => records(device, 3, undefined as Any), /records is given nothing; give components/],
    ["a mirror of a number", () => mirror(3 as Any), /mirror is given 3; give a view/],
    ["a table of no type", () => table(undefined as Any, [1]), new RegExp(`table.*${place}.* is given nothing for a type`)],
    ["a table of a number", () => table(f64, 3 as Any), /is given 3 for its values; give a list/],
  ];
  for (const [name, work, message] of cases) it(name, () => refused(work, message));
  it("a field for a list of fields", () =>
    assert.rejects(writeImage("none.vti", u), { name: "IsoformError", message: /a Field cannot be written: give a list of fields/ }));
});

it("views and devices are printed on one line", () => {
  assert.equal(inspect({ v: device.array(f64, [3, 4]) }), "{ v: View f64 [3, 4] }");
  assert.match(inspect(device), /^Device js: .*$/);
});

it("values that are no numbers", async () => {
  await refused(() => device.from(f64, ["1", undefined]), /value 0 is a string: give numbers/);
  await refused(() => device.from(f64, [1, undefined]), /value 1 is nothing/);
  await refused(() => device.from(f64, [[1, 2]]), /value 0 is an Array/);
  await refused(() => device.from(f64, undefined), /nothing is given for values of a view/);
  await refused(() => device.from(f64, "12"), /a string is given for values/);
  await refused(() => device.queue.write(y, [1, 2, 3, null]), /value 3 is null/);
});
