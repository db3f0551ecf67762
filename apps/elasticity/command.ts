import type { Command } from "commander";
import { Option } from "commander";
import { writeImage } from "isoform/io";
import { tellIndex } from "../vtk-told.js";
import type { Shell } from "isoform/portability";
import type { OpenOptions } from "isoform";
import { devices } from "isoform/set";
import type { Unresolved } from "isoform/skeleton";
import { choicesText } from "../grids.js";
import { cellAxes, heatMap } from "isoform/draw";
import { addGridOptions, count, examples, number, positive, splitOption } from "../options.js";
import { DEFAULTS, Elasticity, ITERATIONS, TOLERANCE, type Settings } from "./elasticity.js";
import { PRECONDITIONERS } from "./kernels.js";
import { CASES, type CaseName } from "./solid.js";

interface Options extends Unresolved<Settings> {
  devices: string;
  f64?: OpenOptions["f64"];
  case: CaseName;
  size: number;
  fill: number;
  young: number;
  poisson: number;
  pressure: number;
  tolerance: number;
  iterations: number;
  svg?: string;
  vtk?: string;
  json?: string;
}

/** Adds `isoform elasticity`. */
export function command(program: Command, shell: Shell): void {
  const elasticity = program
    .command("elasticity")
    .description("linear elasticity: a cube of trilinear hexahedra, by conjugate gradients without a matrix")
    .addOption(
      new Option(
        "--case <name>",
        "cube: held at its foot and pulled at its top; tension: the same, free to shrink across; patch: with a linear displacement of its surface",
      )
        .choices(Object.keys(CASES))
        .default("cube"),
    )
    .option("--size <n>", "nodes along each axis of the grid", count, 32)
    .option("--fill <share>", "share of the grid that the cube fills, above 0 and up to 1", positive, 1)
    .option("--young <E>", "Young's modulus, in any unit of pressure", positive, 1)
    .option("--poisson <nu>", "Poisson's ratio, above -1 and below 0.5", number, 0.3)
    .option("--pressure <p>", "pressure on the top, in the unit of Young's modulus: outward, or inward if negative", number, 0.01)
    .addOption(
      new Option("--preconditioner <name>", "preconditioner of the conjugate gradients")
        .choices(PRECONDITIONERS)
        .default(DEFAULTS.preconditioner),
    )
    .option("--tolerance <x>", "share of the first residual at which the run stops", positive, TOLERANCE)
    .option("--iterations <n>", "maximum number of iterations", count, ITERATIONS);
  addGridOptions(elasticity)
    .addOption(splitOption())
    .option("--svg <file>", "write a picture of the vertical displacement in the middle plane")
    .option("--vtk <file>", "write displacements and residual as a VTK image (.vti; several processes: .pvti)")
    .option("--json <file>", "write the result as JSON")
    .addHelpText(
      "after",
      examples(
        "elasticity --size 32 --devices native",
        "elasticity --case tension --poisson 0.45 --preconditioner jacobi",
        "elasticity --size 48 --fill 0.3 --grid sparse --svg displacement.svg",
      ),
    )
    .action((options: Options) => run(options, shell));
}

async function run(options: Options, shell: Shell): Promise<void> {
  const { case: name, young, poisson, svg, vtk, json } = options;
  await shell.checkOutputs({ svg, vtk, json });
  const solid = CASES[name]({ ...options, material: { young, poisson } });
  const set = await devices(options.devices, { f64: options.f64 });
  try {
    const elasticity = await Elasticity.create(set, solid, options);
    const solution = await elasticity.solve(options);
    const { held, loads } = await elasticity.forceBalance();
    const deviation = await elasticity.deviation();
    const { cells } = elasticity.grid;
    const { grid, layout, precision, preconditioner } = elasticity.settings;
    const { occ, choices } = elasticity.skeleton;
    const { iterations, seconds, residual, converged } = solution;
    const perIteration = seconds / Math.max(1, iterations);
    const labels = [...new Set(set.locals.map(({ device }) => device.label))].join(", ");
    shell.print(
      `${set.name}: ${labels}\n` +
        `${name}, E ${young}, nu ${poisson}: ${grid} grid of ${solid.extents.join(" x ")}, ${cells} nodes, ${layout}, occ ${occ}, ${precision}\n` +
        `${iterations} iterations in ${seconds.toFixed(2)} s, ${(1e3 * perIteration).toPrecision(3)} ms each, ${(cells / perIteration / 1e6).toPrecision(3)} million nodes a second; preconditioner: ${preconditioner}\n${choicesText(elasticity.skeleton)}` +
        `${converged ? "converged" : "not converged"}: the residual is ${residual.toExponential(1)} of that at the start\n` +
        `loads ${vectorText(loads)}, held by ${vectorText(held)}\n` +
        (deviation === undefined ? "" : `largest deviation from the exact displacement, relative: ${deviation.toExponential(1)}\n`),
    );
    const settings = { ...elasticity.settings, occ };
    const result = { case: name, devices: set.name, labels, options, settings, choices, cells, ...solution, loads, held, deviation };
    if (svg !== undefined) await shell.writeFile(svg, await picture(elasticity));
    if (vtk !== undefined)
      tellIndex(
        shell,
        vtk,
        await writeImage(vtk, [elasticity.fields.displacement, elasticity.fields.residual], { spacing: [0, 1, 2].map(() => solid.edge) }),
      );
    if (json !== undefined) await shell.writeFile(json, `${JSON.stringify(result, null, 1)}\n`);
  } finally {
    await set.close();
  }
}

/** Along x and z, in the plane in the middle of y. */
async function picture({ grid, fields, solid }: Elasticity): Promise<string> {
  const [width, ny, height] = solid.extents;
  const found = await fields.displacement.download();
  const node = (n: number) => (Math.floor(n / width) * ny + (ny >> 1)) * width + (n % width);
  const values = Array.from({ length: width * height }, (_, n) => (grid.mask && !grid.mask[node(n)] ? NaN : found[3 * node(n) + 2]));
  return heatMap({ title: "elasticity", quantity: "displacement along z", width, height, values, axes: cellAxes(width, height) });
}

const vectorText = (values: readonly number[]): string => `(${values.map((value) => value.toExponential(2)).join(", ")})`;
