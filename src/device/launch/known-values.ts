import type { Expr } from "../../ir/types.js";

/** Arguments of a launch, by parameter. */
export interface GivenArguments {
  readonly scalars: Readonly<Record<string, number | bigint | boolean>>;
  readonly views: Readonly<Record<string, { readonly shape: readonly number[] }>>;
}

/** The value of a scalar parameter or of an extent; undefined of other expressions. */
export const knownIn =
  ({ scalars, views }: GivenArguments) =>
  (e: Expr): number | undefined => {
    if (e.op === "param") return Number(scalars[e.name]);
    return e.op === "extent" ? views[e.view].shape[e.axis] : undefined;
  };
