/**
 * Memory bandwidth of one device by the kernels of BabelStream (copy, mul, add, triad, dot): `Stream.create`, then `run`.
 * @module
 */
export { elements, Stream, type StreamTimes } from "./stream.js";
