import { analyseAccess } from "../ir/analysis/access.js";
import { costOf, type Sizes } from "../ir/analysis/cost.js";
import type { KernelIR } from "../ir/types.js";

/* Cost of a kernel for one element of its range, in words. */

/** Elements along each axis for which the work is counted, so that edges do not matter. */
const EXTENT = 1024;

/** `2 operations and 24 bytes for each element; reads x, y; writes y` */
export function costText(ir: KernelIR): string {
  const uses = Object.entries(analyseAccess(ir).views);
  const [reads, writes] = [
    uses.filter(([, use]) => use.read).map(([name]) => name),
    uses.filter(([, use]) => use.written || use.scattered).map(([name]) => name),
  ].map((names) => names.join(", "));
  const touched = [...(reads ? [`reads ${reads}`] : []), ...(writes ? [`writes ${writes}`] : [])];
  return [workText(ir), ...touched].join("; ");
}

function workText(ir: KernelIR): string {
  const { policy } = ir;
  const rank = policy.kind === "range" ? policy.rank : 1;
  const extents = Array.from({ length: rank }, () => EXTENT);
  const sizes: Sizes = {
    policy: policy.kind === "team" ? { kind: "team", league: EXTENT } : { kind: "range", begin: extents.map(() => 0), extents },
    views: Object.fromEntries(
      ir.params.flatMap((param) =>
        param.kind === "view" || param.kind === "scatter"
          ? [[param.name, { shape: Array.from({ length: param.rank }, () => EXTENT) }]]
          : [],
      ),
    ),
    scalars: Object.fromEntries(ir.params.flatMap((param) => (param.kind === "scalar" ? [[param.name, 1]] : []))),
  };
  const { flops, bytes, estimate } = costOf(ir, sizes);
  const each = (total: number): string => String(Number((total / EXTENT ** rank).toPrecision(3)));
  const about = estimate ? "about " : "";
  return `${about}${each(flops)} operations and ${each(bytes)} bytes for each ${policy.kind === "team" ? "team" : "element"}`;
}
