export {
  hdf5Missing,
  readHdf5,
  requireHdf5,
  writeHdf5,
  type Attribute,
  type Attributes,
  type Dataset,
  type Group,
  type NewDataset,
  type NewGroup,
} from "./hdf5-file.js";
export { readImage, writeImage, type Image } from "./image.js";
export { readRectilinear, writeRectilinear, type Rectilinear } from "./rectilinear.js";
export { readVtkSeries, writeVtkSeries, type VtkSnapshot } from "./vtk-series.js";
export { readUnstructured, uploadActive, writeUnstructured, type Unstructured } from "./unstructured.js";
export {
  readOpenPmd,
  recordsOf,
  writeHdf5Fields,
  writeOpenPmd,
  type Dimension,
  type MeshRead,
  type MeshRecord,
  type OpenPmdRecord,
  type ParticleSpecies,
  type RecordRead,
  type Snapshot,
  type SnapshotRead,
  type Values,
} from "./openpmd.js";
export { writeXdmf, xdmfOf } from "./xdmf.js";
export { Checkpoint, readCheckpoint, writeCheckpoint, type CheckpointOptions } from "./checkpoint.js";
export { previousOf } from "./replace-checkpoint.js";
export type { Checkpointed, CheckpointedArray, CheckpointedSequence } from "./checkpoint-parts.js";
export { readState, writeState, type Run, type StateArray, type StateFile, type StoredArray } from "./state-file.js";
export { writeAsking, writeByOne } from "./files.js";
export { removeStale, writeWhole } from "./whole-file.js";
export { parseObj, parseStl, readMesh } from "./mesh-file.js";
export { readRaw, writeRaw } from "./raw.js";
export type { Faces, Geometry } from "./fields.js";
export type { DataArray, VtkEncoding } from "./vtk-file.js";
export * from "./table/index.js";
export { readNpy, writeNpy, type NpyArray, type NpyRead, type NpySource, type NpyValues } from "./npy.js";
export { readNpz, writeNpz, type NpzOptions } from "./npz.js";
export { readMatrixMarket } from "./matrix-market/read.js";
export { writeMatrixMarket, type MatrixMarketOptions } from "./matrix-market/write.js";
export type {
  MarketArray,
  MarketArrayRead,
  MarketCoordinates,
  MarketCoordinatesRead,
  MarketField,
  MarketSymmetry,
  MatrixMarket,
} from "./matrix-market/matrix.js";
