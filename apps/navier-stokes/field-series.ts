import { basename } from "node:path";
import { recordsOf, writeOpenPmd, writeRectilinear, writeVtkSeries, writeXdmf, type VtkSnapshot } from "isoform/io";
import { facesOf } from "./faces.js";
import { primitives } from "./primitives.js";
import type { Simulation } from "./simulation.js";

export interface SeriesOptions {
  /** A VTK rectilinear grid (.vtr). */
  readonly vtk?: string;
  /** HDF5 by the openPMD standard (.h5), with XDMF beside it. */
  readonly hdf5?: string;
  /** Samples from one snapshot to the next: with it, VTK gets a file for each and an index. */
  readonly fieldsEvery?: number;
}

const DIGITS = 8;
const withoutEnding = (path: string): string => path.replace(/\.[^./\\]*$/, "");
/** `flow-00000100.vtr`. */
const numbered = (path: string, step: number): string => `${withoutEnding(path)}-${String(step).padStart(DIGITS, "0")}.vtr`;

/** Snapshots of density, velocity, pressure and temperature with the coordinates of the cells. */
export class FieldSeries {
  private made: ReturnType<typeof primitives> | undefined;
  private readonly written: VtkSnapshot[] = [];
  private isNew = true;

  constructor(
    private readonly simulation: Simulation,
    private readonly options: SeriesOptions,
  ) {}

  /** Writes the flow as it is now, beside the snapshots before. */
  async write(): Promise<void> {
    const { simulation, options, written } = this;
    const { vtk, hdf5, fieldsEvery } = options;
    if (vtk === undefined && hdf5 === undefined) return;
    const { grid, model, settings, steps: step, flow } = simulation;
    const { fields, container } = (this.made ??= primitives(model));
    await grid.run(container, settings);
    const geometry = { faces: facesOf(flow.axes) };
    const time = await simulation.time.get();
    if (vtk !== undefined) {
      const path = fieldsEvery === undefined ? vtk : numbered(vtk, step);
      await writeRectilinear(path, fields, geometry);
      written.push({ time, file: basename(path) });
      if (fieldsEvery !== undefined) await writeVtkSeries(`${withoutEnding(vtk)}.pvd`, written);
    }
    if (hdf5 !== undefined) {
      const dt = await simulation.dt.get();
      await writeOpenPmd(hdf5, { step, time, dt, meshes: await recordsOf(fields, geometry) }, this.isNew ? "new" : "add");
      await writeXdmf(hdf5);
    }
    this.isNew = false;
  }
}
