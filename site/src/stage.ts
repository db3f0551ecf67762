import type { DeviceSet } from "isoform/set";
import { animate, type Wishes } from "./animate.js";
import { domElement } from "./element.js";
import type { Exhibit, Extents } from "./exhibit.js";
import { listen } from "./pointer.js";

/** Shows an exhibit in `stage`, running until the returned function is called. Errors go to `fail`. */
export async function playScene(
  exhibit: Exhibit,
  set: DeviceSet,
  stage: HTMLElement,
  fail: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const { sizes, erases } = exhibit;
  const frame = domElement("div", { className: "frame" });
  const run = domElement("button", { type: "button" });
  const again = domElement("button", { type: "button", textContent: "Start over" });
  const eraser = domElement("input", { type: "checkbox" });
  const cells = domElement("select", { id: "cells" }, ...sizes.map((extents) => new Option(extents.join(" x "))));
  const rates = domElement("output", { id: "rates", ariaLive: "off" });
  const hint = `${exhibit.hint} With the keyboard: arrow keys move the cursor, space puts the pen down or up${erases ? ", E changes between drawing and erasing" : ""}.`;
  stage.replaceChildren(
    domElement("h2", { textContent: exhibit.title }),
    frame,
    domElement(
      "div",
      { className: "controls" },
      run,
      again,
      domElement("label", { hidden: !erases }, eraser, " Erase"),
      domElement("label", { hidden: sizes.length === 1 }, "Cells ", cells),
      rates,
    ),
    domElement("p", { textContent: exhibit.text }),
    domElement("p", { id: "hint", textContent: hint }),
  );

  const wishes: Wishes = { playing: !matchMedia("(prefers-reduced-motion: reduce)").matches, restart: false, strokes: [] };
  const label = (): void => void (run.textContent = wishes.playing ? "Pause" : "Run");
  run.onclick = () => {
    wishes.playing = !wishes.playing;
    label();
  };
  again.onclick = () => void (wishes.restart = true);
  label();

  /** Opens the exhibit on a canvas of its own: a canvas is drawn on in one way as long as it lives. */
  const open = async ([width, height]: Extents): Promise<() => Promise<void>> => {
    const canvas = domElement("canvas", { width, height, tabIndex: 0, id: "picture" });
    // So that screen readers hand the arrow keys on.
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "picture to draw in");
    canvas.setAttribute("aria-label", exhibit.alternative);
    canvas.setAttribute("aria-describedby", "hint");
    const cursor = domElement("span", { className: "cursor", ariaHidden: "true" });
    frame.replaceChildren(canvas, cursor);
    wishes.strokes.length = 0;
    listen(canvas, cursor, eraser, (stroke) => void wishes.strokes.push(stroke));
    return animate(await exhibit.open(set, canvas), canvas, wishes, (text) => void (rates.textContent = text), fail);
  };
  const asked = new URLSearchParams(location.search).get("cells");
  const found = sizes.findIndex((extents) => extents.join("x") === asked);
  cells.selectedIndex = found < 0 ? exhibit.defaultGrid(set) : found;
  let end = await open(sizes[cells.selectedIndex]);
  let turn = Promise.resolve();
  cells.onchange = () => {
    turn = turn.then(async () => {
      await end();
      end = await open(sizes[cells.selectedIndex]);
    });
    turn = turn.catch(fail);
  };
  return async () => {
    await turn;
    await end();
  };
}
