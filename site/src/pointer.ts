import type { Point, Stroke } from "./exhibit.js";

/** Share of the canvas for one press of an arrow key. */
const STRIDE = 1 / 64;

const ARROWS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  ArrowLeft: [-STRIDE, 0],
  ArrowRight: [STRIDE, 0],
  ArrowUp: [0, -STRIDE],
  ArrowDown: [0, STRIDE],
};

/**
 * Strokes by pointer and keyboard, in pixels of the canvas: arrow keys move the cursor, and draw while the pen is down, which the space bar
 * toggles; the key E changes between drawing and erasing, as `eraser` does.
 */
export function listen(canvas: HTMLCanvasElement, cursor: HTMLElement, eraser: HTMLInputElement, draw: (stroke: Stroke) => void): void {
  let last: Point | undefined;
  let [at, down] = [{ x: 0.5, y: 0.5 }, false];
  const inPixels = ({ x, y }: Point): Point => ({ x: x * canvas.width, y: y * canvas.height });
  const stroke = (from: Point, to: Point): void => draw({ from: inPixels(from), to: inPixels(to), erase: eraser.checked });
  const placeOf = (event: PointerEvent): Point => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return { x: (event.clientX - left) / width, y: (event.clientY - top) / height };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    last = placeOf(event);
    stroke(last, last);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const to = placeOf(event);
    stroke(last, to);
    last = to;
  });
  for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, () => (last = undefined));

  const show = (): void => {
    cursor.style.left = `${100 * at.x}%`;
    cursor.style.top = `${100 * at.y}%`;
    cursor.classList.toggle("down", down);
  };
  const inside = (value: number): number => Math.min(1, Math.max(0, value));
  canvas.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (arrow) {
      const to = { x: inside(at.x + arrow[0]), y: inside(at.y + arrow[1]) };
      if (down) stroke(at, to);
      at = to;
    } else if (event.key === " ") {
      down = !down;
      if (down) stroke(at, at);
    } else if (event.key === "e") eraser.checked = !eraser.checked;
    else return;
    event.preventDefault();
    show();
  });
  show();
}
