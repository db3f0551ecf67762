import type { DenseGrid } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Skeleton } from "isoform/skeleton";
import { take, type Brush } from "./brush.js";
import { AHEAD, type Show, type Stroke } from "./exhibit.js";
import type { Picture } from "./look.js";

/** Parts of a show of steps; they belong to the show from now on. */
interface Stepping {
  readonly grid: DenseGrid<2> | DenseGrid<3>;
  /** One step. */
  readonly step: Skeleton;
  /** Steps of the brush, with ink of 1, or 0 where it erases. */
  readonly painting: Skeleton;
  readonly brush: Brush;
  /** Steps that make the picture's values from the latest step, if they differ from its own. */
  readonly showing?: Skeleton;
  readonly picture: Picture;
  /** Brings all back to the beginning. */
  begin(draw: (stroke: Stroke) => void): void | Promise<void>;
  /** Steps of a frame, where more would be too fast to look at. */
  readonly most?: number;
  /** The time that the steps have come to, where the device finds it. */
  readonly time?: Scalar<"f64">;
  /** Whatever else is to be freed. */
  readonly others?: readonly { free(): void }[];
}

/** A show, at its beginning, that makes as many steps as it is told. */
export async function steppingShow(of: Stepping): Promise<Show> {
  const { grid, step, painting, brush, showing, picture, begin, most, time, others = [] } = of;
  let [steps, reached, asking] = [0, 0, false];
  /** Counts the beginnings: what is told of an earlier one comes too late. */
  let beginning = 0;
  const draw = (stroke: Stroke): void => {
    take(brush, stroke, stroke.erase ? 0 : 1);
    painting.submit(1);
  };
  const reset = (): void | Promise<void> => {
    [steps, reached, beginning] = [0, 0, beginning + 1];
    return begin(draw);
  };
  /** Asks the device for the time, unless it has yet to answer; what goes wrong is reported by the frame. */
  const ask = (): void => {
    if (!time || asking) return;
    asking = true;
    const own = beginning;
    const answered = (value: number): void => {
      asking = false;
      if (own === beginning) reached = value;
    };
    void time.get().then(answered, () => {});
  };
  await reset();
  return {
    cells: grid.cells,
    ahead: AHEAD,
    most,
    get state() {
      return time ? `step ${steps}, time ${reached.toFixed(2)}` : `step ${steps}`;
    },
    draw,
    reset,
    async frame(count) {
      step.submit(count);
      showing?.submit(1);
      steps += count;
      const painted = picture.paint();
      ask();
      await painted;
      return count;
    },
    free() {
      for (const each of [step, painting, showing, picture, ...others, grid]) each?.free();
    },
  };
}
