import type { OpenOptions, Precision } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { Norm } from "./fused.js";
import type { ScanningWords } from "./scanning-options.js";
import type { Globals } from "./shape.js";
import type { FormName, GeneratorName, Layout } from "./solver.js";

/** Options of `isoform gsr`. */
export interface GsrOptions extends ScanningWords {
  gib?: number;
  devices: string;
  f64?: OpenOptions["f64"];
  iterations?: number;
  generator: GeneratorName;
  seed: number;
  /** Unknowns of the global section. */
  global?: Globals;
  form?: FormName;
  layout?: Layout;
  norm?: Norm;
  checkpoint?: string;
  every?: number;
  restart?: string;
  precision: Precision;
  coefficients?: CoefficientType;
  corrections?: number;
  atol?: number;
  btol: number;
  conlim: number;
  compatibleErrors?: boolean;
  kernels: boolean;
  json?: string;
  out?: string;
  export?: string;
  report?: string;
}
