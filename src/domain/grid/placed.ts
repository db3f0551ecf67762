import { originalPosition } from "#source-map";
import { LaunchError } from "../../ir/errors.js";
import { callSite } from "../../kernel/location.js";

/** Makes a grid; what is refused tells the author's line, where he called `callee`. */
export function atCallSite<T>(callee: Function, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const { file, line, column } = originalPosition(callSite(callee));
    throw new LaunchError(`grid, ${file}:${line}:${column}: ${error.message}`);
  }
}
