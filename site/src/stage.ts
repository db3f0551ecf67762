import type { DeviceSet } from "isoform/set";
import { element } from "./element.js";
import type { Exhibit, Stroke } from "./exhibit.js";
import { Pace } from "./pace.js";
import { listen } from "./pointer.js";

/** Shows an exhibit in `stage`, running until the returned function is called. Errors go to `fail`. */
export async function show(
  exhibit: Exhibit,
  set: DeviceSet,
  stage: HTMLElement,
  fail: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const extents = exhibit.extents(set);
  const [width, height] = extents;
  const canvas = element("canvas", { width, height, tabIndex: 0, id: "picture" });
  // So that screen readers hand the arrow keys on.
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "picture to draw in");
  canvas.setAttribute("aria-label", exhibit.alternative);
  canvas.setAttribute("aria-describedby", "hint");
  const cursor = element("span", { className: "cursor", ariaHidden: "true" });
  const run = element("button", { type: "button" });
  const again = element("button", { type: "button", textContent: "Start over" });
  const eraser = element("input", { type: "checkbox" });
  const rates = element("output", { id: "rates", ariaLive: "off" });
  const hint = `${exhibit.hint} With the keyboard: arrow keys move the cursor, space puts the pen down or up${exhibit.erases ? ", E changes between drawing and erasing" : ""}.`;
  stage.replaceChildren(
    element("h2", { textContent: exhibit.title }),
    element("p", { textContent: exhibit.text }),
    element("div", { className: "frame" }, canvas, cursor),
    element("div", { className: "controls" }, run, again, element("label", { hidden: !exhibit.erases }, eraser, " Erase"), rates),
    element("p", { id: "hint", textContent: hint }),
  );

  const strokes: Stroke[] = [];
  let [playing, closing, restart] = [!matchMedia("(prefers-reduced-motion: reduce)").matches, false, false];
  const label = (): void => void (run.textContent = playing ? "Pause" : "Run");
  run.onclick = () => {
    playing = !playing;
    label();
  };
  again.onclick = () => void (restart = true);
  listen(canvas, cursor, eraser, (stroke) => void strokes.push(stroke));
  label();

  const opened = await exhibit.open(set, extents);
  const pace = new Pace(opened.cells);
  const context = canvas.getContext("2d")!;
  const one = async (): Promise<void> => {
    const changed = restart || strokes.length > 0;
    if (restart) await opened.reset();
    restart = false;
    for (const stroke of strokes.splice(0)) await opened.draw(stroke);
    if (!playing && !changed && canvas.dataset.frames) return;
    const start = performance.now();
    const { steps, state } = await opened.frame(playing ? pace.steps : 0);
    await opened.paint(context);
    pace.note(performance.now() - start, steps);
    noteFrame(canvas);
    const text = pace.rates();
    if (text) rates.textContent = `${opened.cells === undefined ? "" : `${width} x ${height} cells, `}${state}; ${text}`;
  };
  const loop = async (): Promise<void> => {
    try {
      while (!closing) {
        await one();
        await new Promise(requestAnimationFrame);
      }
    } catch (error) {
      fail(error);
    } finally {
      opened.free();
    }
  };
  const ended = loop();
  return async () => {
    closing = true;
    await ended;
  };
}

/** For whoever measures the page. */
function noteFrame(canvas: HTMLCanvasElement): void {
  const frames = Number(canvas.dataset.frames ?? 0);
  if (frames === 0) performance.mark("first frame");
  canvas.dataset.frames = String(frames + 1);
}
