/*
 * Code for lists, which `list` brings along with a parameter: pages whose kernels have none do not load it.
 */

let support: object | undefined;

export function bringListSupport(given: object): void {
  support = given;
}

/** The code, with functions of these names and types. */
export function listSupport<Functions extends object>(): Functions {
  if (!support) throw new Error("a kernel has a list that list(...) has not made");
  return support as Functions;
}
