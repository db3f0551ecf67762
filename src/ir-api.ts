/** `isoform/ir`: for those who write a front end, a pass or a backend (docs/ir.md). */
export * from "./ir/index.js";
export { kernelFromIR } from "./kernel/declare/from-ir.js";
