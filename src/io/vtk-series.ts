import { IsoformError } from "../base/errors.js";
import { readBytes, writePieces } from "./files.js";
import { textOf, unescape } from "./xml.js";

/** A file of VTK, and the time that it is of. */
export interface VtkSnapshot {
  readonly time: number;
  /** Relative to the folder of the index. */
  readonly file: string;
}

/** Writes a ParaView collection (.pvd): an index by which ParaView and VisIt show files of VTK as one series over time. */
export async function writeVtkSeries(path: string, snapshots: readonly VtkSnapshot[]): Promise<void> {
  const list = snapshots.map(({ time, file }) => ({ tag: "DataSet", attributes: { timestep: time, part: 0, file } }));
  const root = { tag: "VTKFile", attributes: { type: "Collection", version: "0.1" }, children: [{ tag: "Collection", children: list }] };
  await writePieces(path, [new TextEncoder().encode(`<?xml version="1.0"?>\n${textOf(root)}`)]);
}

/** Reads a file of `writeVtkSeries`. Throws IsoformError for another. */
export async function readVtkSeries(path: string): Promise<VtkSnapshot[]> {
  const text = new TextDecoder().decode(await readBytes(path));
  if (!/<VTKFile type="Collection"/.test(text)) throw new IsoformError(`${path} is not a list of VTK files (.pvd)`);
  return [...text.matchAll(/<DataSet timestep="([^"]*)" part="0" file="([^"]*)"\/>/g)].map(([, time, file]) => ({
    time: Number(time),
    file: unescape(file),
  }));
}
