import { element } from "../element.js";
import { Editor } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import type { Forms, Problem, Ran } from "./messages.js";
import { Workshop } from "./workshop.js";

/** Milliseconds without an edit after which a module is compiled. */
const PAUSE = 200;
/** Milliseconds that a problem has to last before it is read aloud. */
const QUIET = 1500;
/** Seconds, with which a module that loops for ever is told from a slow one. */
const COMPILE_SECONDS = 10;
const RUN_SECONDS = 30;
/** Shown until the visitor chooses others. */
const SHOWN = new Set(["IR", "js", "wgsl", "c"]);

/** What was typed stays while the page is open. */
let kept = EXAMPLES[0].text;

/** Shows the playground in `stage`; kernels run on the device of that name. */
export async function openPlayground(device: string, stage: HTMLElement): Promise<() => Promise<void>> {
  const problem = element("p", { id: "problem", className: "problem" });
  const spoken = element("p", { className: "spoken" });
  spoken.setAttribute("role", "status");
  const cost = element("p", { id: "cost" });
  const result = element("pre", { id: "result", hidden: true });
  result.setAttribute("role", "status");
  const choice = element("fieldset", {}, element("legend", { textContent: "Side by side" }));
  const panes = element("div", { className: "panes" });
  const run = element("button", { type: "button", id: "run", textContent: "Run and time", disabled: true });
  const stop = element("button", { type: "button", id: "stop", textContent: "Stop", disabled: true });
  const examples = element("select", { id: "example" }, ...EXAMPLES.map(({ title }, n) => new Option(title, String(n))));
  // One compiles while the other runs, so that problems are reported meanwhile.
  const [compiler, runner] = [new Workshop(COMPILE_SECONDS), new Workshop(RUN_SECONDS)];
  let [timer, speech] = [0, 0];

  const compile = async (): Promise<void> => {
    const text = (kept = editor.text);
    const reply = await compiler.ask({ text });
    if (text !== editor.text) return;
    say("problem" in reply ? reply.problem : undefined);
    if ("forms" in reply) {
      cost.textContent = costText(reply.forms);
      showTexts(reply.forms.texts, choice, panes);
    }
    run.disabled = "problem" in reply || !stop.disabled;
  };
  const say = (found?: Problem): void => {
    problem.textContent = found ? problemText(found) : "";
    editor.mark(found);
    clearTimeout(speech);
    speech = window.setTimeout(() => void (spoken.textContent = problem.textContent), QUIET);
  };
  const editor = new Editor(() => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void compile(), PAUSE);
  });
  examples.onchange = () => {
    editor.text = EXAMPLES[Number(examples.value)].text;
    void compile();
  };
  run.onclick = async () => {
    [run.disabled, stop.disabled] = [true, false];
    const reply = await runner.ask({ text: editor.text, device });
    [run.disabled, stop.disabled] = [false, true];
    result.hidden = "problem" in reply;
    if ("problem" in reply) say(reply.problem);
    else result.textContent = runText(reply.forms, reply.ran!);
  };
  stop.onclick = () => runner.stop("stopped");

  editor.text = kept;
  stage.replaceChildren(
    element("h2", { textContent: "Playground" }),
    element("p", {
      textContent: "A kernel is a function over declared parameters, from which types are found. Edit it: it is compiled as you type.",
    }),
    element("div", { className: "controls" }, element("label", {}, "Example ", examples), run, stop),
    editor.root,
    problem,
    spoken,
    cost,
    result,
    choice,
    panes,
  );
  await compile();
  return async () => {
    clearTimeout(timer);
    clearTimeout(speech);
    compiler.close();
    runner.close();
  };
}

const problemText = ({ message, remedy, line, column }: Problem): string =>
  `${line === undefined ? "" : `Line ${line}${column === undefined ? "" : `, column ${column}`}: `}${message}${remedy ? ` (${remedy})` : ""}`;

const count = (value: number): string => value.toLocaleString("en");

function costText({ flops, bytes }: Forms): string {
  const intensity = bytes > 0 ? (flops / bytes).toPrecision(3) : "no";
  return `One launch: ${count(flops)} FLOPs, ${count(bytes)} bytes, ${intensity} FLOPs a byte.`;
}

const duration = (seconds: number): string =>
  seconds < 1e-3 ? `${(seconds * 1e6).toPrecision(3)} us` : `${(seconds * 1e3).toPrecision(3)} ms`;

function runText({ flops, bytes }: Forms, { device, seconds, results, samples, remarks }: Ran): string {
  const list = (values: readonly number[]): string => values.map((value) => +value.toPrecision(6)).join(", ");
  return [
    `${device}: ${duration(seconds)} a launch, ${(flops / seconds / 1e9).toPrecision(3)} GFLOP/s, ${(bytes / seconds / 1e9).toPrecision(3)} GB/s`,
    ...Object.entries(results).map(([name, value]) => `${name} = ${value}`),
    ...Object.entries(samples).map(([name, values]) => `${name} = ${list(values)}, ...`),
    ...remarks,
  ].join("\n");
}

/** A check box and a pane for each text; panes keep their place while one types. */
function showTexts(texts: Forms["texts"], choice: HTMLFieldSetElement, panes: HTMLElement): void {
  for (const [name, text] of Object.entries(texts)) {
    const id = `text-${name}`;
    const pre = panes.querySelector<HTMLElement>(`#${id} pre`);
    if (pre) {
      pre.textContent = text;
      continue;
    }
    const made = element("pre", { textContent: text, tabIndex: 0 });
    const pane = element("section", { id, hidden: !SHOWN.has(name) }, element("h3", { textContent: name }), made);
    pane.setAttribute("aria-label", name);
    const box = element("input", { type: "checkbox", checked: !pane.hidden });
    box.onchange = () => {
      pane.hidden = !box.checked;
      if (box.checked) SHOWN.add(name);
      else SHOWN.delete(name);
    };
    choice.append(element("label", {}, box, ` ${name}`));
    panes.append(pane);
  }
}
