import { basename } from "node:path";
import { recordsOf, writeOpenPmd, writeRectilinear, writeVtkSeries, writeXdmf, type VtkSnapshot } from "isoform/io";
import type { Shell } from "isoform/portability";
import { heatMap } from "isoform/draw";
import { tellIndex } from "../../vtk-told.js";
import type { CaseName } from "../config/config-keys.js";
import type { SeriesOptions } from "./run-options.js";
import { facesOf } from "../measures/faces.js";
import { planeAt, PlaneOf, QUANTITIES, rasterOf, type Quantity } from "./planes.js";
import { primitives } from "../equations/primitives.js";
import type { Simulation } from "../simulation/simulation.js";

const DIGITS = 8;
const withoutEnding = (path: string): string => path.replace(/\.[^./\\]*$/, "");
/** `flow-00000100.vtr`. */
const numbered = (path: string, step: number, ending: string): string =>
  `${withoutEnding(path)}-${String(step).padStart(DIGITS, "0")}${ending}`;

/** The file of a picture: `flow-temperature.svg` where there are several. */
function pictureOf({ svg, show, fieldsEvery }: SeriesOptions, quantity: Quantity, step: number): string {
  const path = show.length > 1 ? `${withoutEnding(svg!)}-${quantity}.svg` : svg!;
  return fieldsEvery === undefined ? path : numbered(path, step, ".svg");
}

/** The files that a run's pictures go to; none are known beforehand where each snapshot has its own. */
export const picturesOf = (options: SeriesOptions): string[] =>
  options.svg === undefined || options.fieldsEvery !== undefined ? [] : options.show.map((quantity) => pictureOf(options, quantity, 0));

/** Units of lengths, by case. */
const LENGTHS: Record<CaseName, string> = { channel: " / half height", layer: " / delta_0", shock: " / delta_0", box: "", tube: "" };

/** Snapshots of density, velocity, pressure and temperature with the coordinates of the cells. */
export class FieldSeries {
  private made: ReturnType<typeof primitives> | undefined;
  private readonly written: VtkSnapshot[] = [];
  private isNew = true;

  private planes: readonly (readonly [Quantity, PlaneOf])[] | undefined;

  constructor(
    private readonly name: CaseName,
    private readonly simulation: Simulation,
    private readonly options: SeriesOptions,
    private readonly shell: Pick<Shell, "writeFile" | "print">,
  ) {}

  /** Writes the flow as it is now, beside the snapshots before. */
  async write(): Promise<void> {
    if (this.options.svg !== undefined) await this.draw();
    const { simulation, options, written } = this;
    const { vtk, hdf5, fieldsEvery } = options;
    if (vtk === undefined && hdf5 === undefined) return;
    const { grid, model, settings, steps: step, flow } = simulation;
    const { fields, container } = (this.made ??= primitives(model));
    await grid.run(container, settings);
    const geometry = { faces: facesOf(flow.axes) };
    const writes = (grid.set.ranks?.rank ?? 0) === 0;
    const time = await simulation.time.get();
    if (vtk !== undefined) {
      const path = fieldsEvery === undefined ? vtk : numbered(vtk, step, ".vtr");
      const file = await writeRectilinear(path, fields, geometry);
      if (fieldsEvery === undefined) tellIndex(this.shell, path, file);
      written.push({ time, file: basename(file) });
      if (fieldsEvery !== undefined && writes) await writeVtkSeries(`${withoutEnding(vtk)}.pvd`, written);
    }
    if (hdf5 !== undefined) {
      const dt = await simulation.dt.get();
      const meshes = await recordsOf(fields, geometry);
      if (writes) {
        await writeOpenPmd(hdf5, { step, time, dt, meshes }, this.isNew ? "new" : "add");
        await writeXdmf(hdf5);
      }
    }
    this.isNew = false;
  }

  private async draw(): Promise<void> {
    const { name, simulation, options } = this;
    const { flow, steps } = simulation;
    const { axis = "z", at } = options.plane ?? {};
    this.planes ??= options.show.map((quantity) => [quantity, new PlaneOf(simulation, quantity, planeAt(flow, axis, at))]);
    const time = await simulation.time.get();
    for (const [quantity, plane] of this.planes) {
      const { width, height, values, bounds, names } = rasterOf(flow, plane.plane, await plane.read());
      const [x, y] = names.map((each, n) => ({ label: `${each}${LENGTHS[name]}`, from: bounds[n][0], to: bounds[n][1] }));
      const title = `${name}, ${axis} = ${Number(plane.plane.at.toPrecision(4))}, t = ${Number(time.toPrecision(4))}`;
      const picture = heatMap({ title, quantity: QUANTITIES[quantity], width, height, values, axes: { x, y } });
      await this.shell.writeFile(pictureOf(options, quantity, steps), picture);
    }
  }
}
