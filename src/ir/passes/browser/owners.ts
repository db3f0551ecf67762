import type { KernelIR } from "../../types.js";
import type { OwnersKernel } from "../owners.js";

/* In pages one worker adds in element order: the form of a kernel for owners is left out, for it is long. */

export const whyNoOwners = (_ir: KernelIR): string => "pages do without owners";

export function ownedAxis(): number {
  throw new Error("pages do without owners");
}

export function ownersKernel(): OwnersKernel {
  throw new Error("pages do without owners");
}
