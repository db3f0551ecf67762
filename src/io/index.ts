export { readImage, writeImage, type Image } from "./image.js";
export { readUnstructured, uploadActive, writeUnstructured, type Unstructured } from "./unstructured.js";
export { readRaw, writeRaw } from "./raw.js";
export type { Geometry } from "./fields.js";
export type { DataArray, VtkEncoding } from "./vtk-file.js";
