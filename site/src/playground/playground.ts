import { IsoformError } from "isoform";
import type { DeviceSet } from "isoform/set";
import { element } from "../element.js";
import { compileModule, ModuleError, type Compiled, type Problem } from "./compile.js";
import { Editor } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { runModule, type Ran } from "./run.js";

/** Milliseconds without an edit after which a module is compiled. */
const PAUSE = 200;
/** Shown until the visitor chooses others. */
const SHOWN = new Set(["IR", "js", "wgsl", "c"]);

/** What was typed stays while the page is open. */
let kept = EXAMPLES[0].text;

/** Shows the playground in `stage`; kernels run on the first device of the set. */
export async function openPlayground({ members: [{ device }] }: DeviceSet, stage: HTMLElement): Promise<() => Promise<void>> {
  const problem = element("p", { id: "problem", className: "problem" });
  problem.setAttribute("role", "status");
  const cost = element("p", { id: "cost" });
  const result = element("pre", { id: "result", hidden: true });
  result.setAttribute("role", "status");
  const choice = element("fieldset", {}, element("legend", { textContent: "Side by side" }));
  const panes = element("div", { className: "panes" });
  const run = element("button", { type: "button", id: "run", textContent: "Run and time" });
  const examples = element("select", { id: "example" }, ...EXAMPLES.map(({ title }, n) => new Option(title, String(n))));
  let [compiled, timer]: [Compiled | undefined, number] = [undefined, 0];

  const compile = async (): Promise<void> => {
    const text = editor.text;
    kept = text;
    try {
      const made = await compileModule(text);
      if (text !== editor.text) return;
      compiled = made;
      say();
      cost.textContent = costText(made);
      showTexts(made.texts, choice, panes);
    } catch (error) {
      if (text !== editor.text) return;
      compiled = undefined;
      say(asProblem(error));
    }
    run.disabled = !compiled;
  };
  const say = (found?: Problem): void => {
    problem.textContent = found ? problemText(found) : "";
    editor.mark(found);
  };
  const editor = new Editor(() => {
    clearTimeout(timer);
    timer = setTimeout(() => void compile(), PAUSE) as unknown as number;
  });
  examples.onchange = () => {
    editor.text = EXAMPLES[Number(examples.value)].text;
    void compile();
  };
  run.onclick = async () => {
    if (!compiled) return;
    run.disabled = true;
    try {
      result.textContent = runText(compiled, await runModule(compiled, device), device.name);
      result.hidden = false;
    } catch (error) {
      say(asProblem(error));
    } finally {
      run.disabled = false;
    }
  };

  editor.text = kept;
  stage.replaceChildren(
    element("h2", { textContent: "Playground" }),
    element("p", {
      textContent: "A kernel is a function over declared parameters, from which types are found. Edit it: it is compiled as you type.",
    }),
    element("div", { className: "controls" }, element("label", {}, "Example ", examples), run),
    editor.root,
    problem,
    cost,
    result,
    choice,
    panes,
  );
  await compile();
  return async () => clearTimeout(timer);
}

/** Errors that are not about the module are faults of this page, and go to the console. */
function asProblem(error: unknown): Problem {
  if (error instanceof ModuleError) return error.problem;
  if (!(error instanceof IsoformError)) console.error(error);
  return { message: (error as Error).message };
}

const problemText = ({ message, remedy, line, column }: Problem): string =>
  `${line === undefined ? "" : `Line ${line}${column === undefined ? "" : `, column ${column}`}: `}${message}${remedy ? ` (${remedy})` : ""}`;

const count = (value: number): string => value.toLocaleString("en");

function costText({ flops, bytes }: Compiled): string {
  const intensity = bytes > 0 ? (flops / bytes).toPrecision(3) : "no";
  return `One launch: ${count(flops)} FLOPs, ${count(bytes)} bytes, ${intensity} FLOPs a byte.`;
}

const duration = (seconds: number): string =>
  seconds < 1e-3 ? `${(seconds * 1e6).toPrecision(3)} us` : `${(seconds * 1e3).toPrecision(3)} ms`;

function runText({ flops, bytes }: Compiled, { seconds, results, samples, decisions }: Ran, device: string): string {
  const list = (values: readonly number[]): string => values.map((value) => +value.toPrecision(6)).join(", ");
  return [
    `${device}: ${duration(seconds)} a launch, ${(flops / seconds / 1e9).toPrecision(3)} GFLOP/s, ${(bytes / seconds / 1e9).toPrecision(3)} GB/s`,
    ...Object.entries(results).map(([name, value]) => `${name} = ${value}`),
    ...Object.entries(samples).map(([name, values]) => `${name} = ${list(values)}, ...`),
    ...decisions,
  ].join("\n");
}

/** A check box and a pane for each text; panes keep their place while one types. */
function showTexts(texts: Compiled["texts"], choice: HTMLFieldSetElement, panes: HTMLElement): void {
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
