import type { DenseGrid } from "isoform/grid";
import type { Skeleton } from "isoform/skeleton";
import { take, type Brush } from "./brush.js";
import { AHEAD, type Show, type Stroke } from "./exhibit.js";
import type { Picture } from "./look.js";

/** What a show of steps is made of; it is the show's from now on. */
export interface Stepping {
  readonly grid: DenseGrid<2>;
  /** One step. */
  readonly step: Skeleton;
  /** What the brush does, with ink of 1, or 0 where it erases. */
  readonly painting: Skeleton;
  readonly brush: Brush;
  /** What makes the picture's values of the latest step, where they are others than its own. */
  readonly showing?: Skeleton;
  readonly picture: Picture;
  /** Brings all back to the beginning. */
  begin(draw: (stroke: Stroke) => void): void;
  /** Whatever else is to be freed. */
  readonly others?: readonly { free(): void }[];
}

/** A show, at its beginning, that makes as many steps as it is told. */
export function steppingShow({ grid, step, painting, brush, showing, picture, begin, others = [] }: Stepping): Show {
  let steps = 0;
  const draw = (stroke: Stroke): void => {
    take(brush, stroke, stroke.erase ? 0 : 1);
    painting.submit(1);
  };
  const reset = (): void => {
    steps = 0;
    begin(draw);
  };
  reset();
  return {
    cells: grid.cells,
    ahead: AHEAD,
    get state() {
      return `step ${steps}`;
    },
    draw,
    reset,
    async frame(count) {
      step.submit(count);
      showing?.submit(1);
      steps += count;
      await picture.paint();
      return count;
    },
    free() {
      for (const each of [step, painting, showing, picture, ...others, grid]) each?.free();
    },
  };
}
