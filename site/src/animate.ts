import type { Show, Stroke } from "./exhibit.js";
import { Pace } from "./pace.js";

/** Wishes of the visitor, taken up with the next frame. */
export interface Wishes {
  playing: boolean;
  restart: boolean;
  readonly strokes: Stroke[];
}

/**
 * Lets a show run, frame by frame, until the returned function is called, and then frees it. Twice a second `report` is told how far it is and
 * how fast.
 */
export function animate(
  show: Show,
  canvas: HTMLCanvasElement,
  wishes: Wishes,
  report: (text: string) => void,
  fail: (error: unknown) => void,
): () => Promise<void> {
  const pace = new Pace(show.cells, show.most);
  const underWay: Promise<void>[] = [];
  let [closing, begun] = [false, false];

  const submit = async (): Promise<void> => {
    begun = true;
    const begin = performance.now();
    const done = show.frame(wishes.playing ? pace.steps : 0);
    pace.noteSubmission(performance.now() - begin);
    pace.note(begin, await done);
    noteFrame(canvas, pace);
  };
  const next = async (): Promise<void> => {
    const { playing, restart, strokes } = wishes;
    const changed = restart || strokes.length > 0;
    wishes.restart = false;
    if (restart) await show.reset();
    for (const stroke of strokes.splice(0)) show.draw(stroke);
    if (!playing && !changed && begun) return;
    const frame = submit();
    // Leaves errors to the moment when its turn comes.
    frame.catch(() => {});
    underWay.push(frame);
  };
  const loop = async (): Promise<void> => {
    try {
      while (!closing) {
        if (underWay.length >= show.ahead) await underWay.shift();
        await new Promise(requestAnimationFrame);
        await next();
        const rates = pace.rates();
        if (rates) report(`${show.state}; ${rates}`);
      }
      await Promise.all(underWay);
    } catch (error) {
      fail(error);
    } finally {
      await Promise.allSettled(underWay);
      show.free();
    }
  };
  const ended = loop();
  return async () => {
    closing = true;
    await ended;
  };
}

/** For whoever measures the page: frames that are done, and milliseconds of the page's own work to submit one. */
function noteFrame(canvas: HTMLCanvasElement, { submission }: Pace): void {
  const frames = Number(canvas.dataset.frames ?? 0);
  if (frames === 0) performance.mark("first frame");
  canvas.dataset.frames = String(frames + 1);
  canvas.dataset.submission = submission.toFixed(3);
}
