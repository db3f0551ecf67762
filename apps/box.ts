import { LaunchError } from "isoform";
import type { SkeletonSettings } from "isoform/skeleton";

/**
 * The box that `isoform explain` and `isoform scaling` ask for, of an application with one dimension.
 * @throws LaunchError where another dimension is asked for
 */
export function askedBox(
  { size, planes, dimension }: Pick<SkeletonSettings, "size" | "planes" | "dimension">,
  own: 2 | 3,
  bySize: number,
): { readonly size: number; readonly planes: number } {
  if (dimension !== undefined && dimension !== own)
    throw new LaunchError(`--dimension ${dimension}: this application has boxes of ${own} dimensions only`);
  const side = size ?? bySize;
  return { size: side, planes: planes ?? side };
}
