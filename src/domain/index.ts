export { bricks, type BrickGrid, type BrickOptions } from "./bricks/bricks.js";
export { dense, DenseGrid } from "./dense/dense.js";
export { AxisArray, type AxisFieldOptions, type AxisName, type AxisOptions, type AxisValues } from "./grid/axis-array.js";
export { Field, type CellFunction, type FieldBox, type FieldPlanes } from "./grid/grid.js";
export { type FieldLayout, type FieldOptions, type FieldToken, type FieldType, GRID_KINDS, type Split, SPLITS } from "./grid/options.js";
export type { DataView, HaloCopy, Offset, Partition } from "./grid/parts.js";
export { face, parity, slab, type Parity, type Region } from "./grid/region.js";
export type { Ghosts, Side } from "./grid/ghosts.js";
export type { DenseOptions, GridKind, GridOptions, LevelOptions } from "./grid/options.js";
export type {
  AssignedScalar,
  Container,
  ContainerBody,
  ContainerOptions,
  ContainerParams,
  FieldUse,
  Grid,
  HostArrayOptions,
  PrepareOptions,
  ScalarStepBody,
  ScalarStepParams,
} from "./grid/grid.js";
export type { Round } from "./grid/parts.js";
export type { AxisAccess, Cell, Components, Dimension, FieldAccess } from "../kernel/declare/cells.js";
export { makeGrid, type AnyGridOptions } from "./make-grid.js";
export { sparse, SparseGrid } from "./sparse/sparse.js";
export { meshActivity, type MeshActivity, type MeshPlacement } from "./mesh/mesh-activity.js";
export type { TriangleMesh } from "./mesh/mesh.js";
export { roll, type RollOptions } from "./container/roll.js";
export { spectrum, type SpectrumOptions } from "./container/spectrum.js";
export { collect, type Collection } from "./container/reductions.js";
export { axpy, copy, dot, fill, norm1, norm2, normMax, scale, type Factor } from "./container/vectors.js";
