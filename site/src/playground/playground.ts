import { domElement } from "../element.js";
import { pageAddress, programIn } from "./address.js";
import { Editor } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { listText } from "./listing.js";
import {
  LANGUAGES,
  problemText,
  type Forms,
  type Language,
  type ProgramProblem,
  type VisitorProgram,
  type Ran,
  type Reals,
} from "./messages.js";
import { Workshop } from "./workshop.js";

/** Milliseconds without an edit after which a module is compiled. */
const PAUSE = 200;
/** Milliseconds that a problem has to last before it is read aloud. */
const QUIET = 1500;
/** Seconds, with which a module that loops for ever is told from a slow one. */
const COMPILE_SECONDS = 10;
const RUN_SECONDS = 30;
/** Shown until the visitor chooses others. */
const SHOWN = new Set(["IR", "js", "wgsl", "c", "fortran-openmp"]);

const CLAIMS: Readonly<Record<Language, string>> = {
  typescript:
    "A kernel is a function over declared parameters, which give it its types. Edit it: it is compiled as you type. Types that you write are removed, not checked.",
  fortran:
    "Loops under a directive of CUDA Fortran, OpenACC or OpenMP, and do concurrent, become kernels. Edit them: they are compiled as you type. The comment that begins with run tells the subroutine that is called, and its arguments.",
};
/** To compile a module is to run it, so a text that somebody else may have written waits until the visitor agrees. */
const FOREIGN = "This module came with the address, and to compile it this page has to run it. Read it first.";

const UNREADABLE =
  "The address names a program that cannot be read: some of it may have been lost when it was copied. Here is an example in its place.";

/** A text, and whether it may run: the visitor's own, or agreed to. Fortran is read, and never run as it stands. */
interface Kept {
  readonly text: string;
  readonly trusted: boolean;
}

/** Last text shown in each language, kept while the page is open. */
const kept: Record<Language, Kept> = {
  typescript: { text: EXAMPLES.typescript[0].text, trusted: true },
  fortran: { text: EXAMPLES.fortran[0].text, trusted: true },
};
let [language, reals]: [Language, Reals] = ["typescript", "declared"];
/** Texts that the visitor has agreed to. */
const agreed = new Set<string>();

/** Whether a text that came from outside may run. */
const isTrusted = (from: Language, text: string): boolean =>
  from === "fortran" ||
  agreed.has(text) ||
  EXAMPLES[from].some((example) => example.text === text) ||
  (kept[from].trusted && kept[from].text === text);

/** Shows the playground in `stage`; kernels run on the device of that name. */
export async function openPlayground(device: string, stage: HTMLElement): Promise<() => Promise<void>> {
  const claim = domElement("p", {});
  const problem = domElement("p", { id: "problem", className: "problem" });
  const spoken = domElement("p", { className: "spoken" });
  spoken.setAttribute("role", "status");
  const cost = domElement("p", { id: "cost" });
  const result = domElement("pre", { id: "result", hidden: true });
  result.setAttribute("role", "status");
  const choice = domElement("fieldset", {});
  const panes = domElement("div", { className: "panes" });
  const run = domElement("button", { type: "button", id: "run", textContent: "Run and time", disabled: true });
  const stop = domElement("button", { type: "button", id: "stop", textContent: "Stop", disabled: true });
  const link = domElement("button", { type: "button", id: "link", textContent: "Copy link" });
  const notice = domElement("p", { id: "notice" });
  notice.setAttribute("role", "status");
  const trust = domElement("button", { type: "button", id: "trust", textContent: "Compile it" });
  const options = Object.entries(LANGUAGES).map(([id, name]) => new Option(name, id));
  const languages = domElement("select", { id: "language" }, ...options);
  const kinds = [new Option("as declared", "declared"), new Option("4 bytes", "f32")];
  const precision = domElement("select", { id: "reals" }, ...kinds);
  const precisionLabel = domElement("label", {}, "Kind rkind ", precision);
  const examples = domElement("select", { id: "example" });
  // One compiles while the other runs, so that problems are reported meanwhile.
  const [compiler, runner] = [new Workshop(COMPILE_SECONDS), new Workshop(RUN_SECONDS)];
  let [timer, speech] = [0, 0];
  let closed = false;

  const program = (): VisitorProgram => ({ language, text: editor.text, reals: language === "fortran" ? reals : "declared" });
  const keep = (): void => void (kept[language] = { text: editor.text, trusted: editor.trusted });
  /** Asks for agreement where the text needs it; gives whether it may run. */
  const consent = (): boolean => {
    if (editor.trusted) {
      trust.remove();
      return true;
    }
    clear();
    say([]);
    problem.textContent = FOREIGN;
    if (!trust.isConnected) problem.after(trust);
    return false;
  };
  const compile = async (): Promise<void> => {
    if (closed || !consent()) return;
    const asked = program();
    const reply = await compiler.ask(asked);
    if (asked.language !== language || asked.text !== editor.text) return;
    say("problems" in reply ? reply.problems : []);
    if ("forms" in reply) {
      cost.textContent = costText(reply.forms);
      showTexts(reply.forms.texts, choice, panes);
    }
    run.disabled = "problems" in reply || !stop.disabled;
  };
  /** Has the address share the program. */
  const share = async (): Promise<void> => {
    const address = await pageAddress(program(), device);
    if (!closed) history.replaceState(null, "", address);
  };
  /** Compiles what the visitor has changed, and shares it. */
  const change = async (): Promise<void> => {
    notice.textContent = "";
    await share();
    await compile();
  };
  const say = (found: readonly ProgramProblem[]): void => {
    problem.textContent = found.map((one) => problemText(one)).join("\n");
    editor.mark(found);
    clearTimeout(speech);
    speech = window.setTimeout(() => void (spoken.textContent = problem.textContent), QUIET);
  };
  const editor = new Editor(() => {
    keep();
    clearTimeout(timer);
    timer = window.setTimeout(() => void change(), PAUSE);
  });
  /** Takes away what belongs to another text. */
  const clear = (): void => {
    choice.replaceChildren(domElement("legend", { textContent: "Side by side" }));
    panes.replaceChildren();
    [cost.textContent, result.hidden, run.disabled] = ["", true, true];
  };
  /** Shows the language that was chosen, and what was written in it. */
  const choose = (): void => {
    [languages.value, precision.value] = [language, reals];
    claim.textContent = CLAIMS[language];
    precisionLabel.hidden = language !== "fortran";
    examples.replaceChildren(...EXAMPLES[language].map(({ title }, n) => new Option(title, String(n))));
    clear();
    editor.show(language, kept[language].text, kept[language].trusted);
  };
  languages.onchange = () => {
    language = languages.value as Language;
    choose();
    void change();
  };
  precision.onchange = () => {
    reals = precision.value as Reals;
    void change();
  };
  examples.onchange = () => {
    result.hidden = true;
    editor.show(language, EXAMPLES[language][Number(examples.value)].text, true);
    keep();
    void change();
  };
  trust.onclick = () => {
    agreed.add(editor.text);
    editor.trust();
    keep();
    void compile();
  };
  run.onclick = async () => {
    // The text may have changed since it was compiled.
    if (!consent()) return;
    [run.disabled, stop.disabled, result.hidden] = [true, false, true];
    const reply = await runner.ask({ ...program(), device });
    [run.disabled, stop.disabled] = [false, true];
    result.hidden = "problems" in reply;
    if ("problems" in reply) say(reply.problems);
    else result.textContent = runText(reply.forms, reply.ran!);
  };
  link.onclick = async () => {
    await share();
    try {
      await navigator.clipboard.writeText(location.href);
      notice.textContent = `Copied: the address has the program in its ${location.href.length} characters.`;
    } catch {
      notice.textContent = "This browser does not let the page copy. The program is in the address above, which you can copy yourself.";
    }
  };
  stop.onclick = () => runner.stop("stopped");

  const found = await programIn(location.hash);
  const shared = found === "unreadable" ? undefined : found;
  if (shared) {
    ({ language, reals } = shared);
    kept[language] = { text: shared.text, trusted: isTrusted(language, shared.text) };
  }
  choose();
  stage.replaceChildren(
    domElement("h2", { textContent: "Playground" }),
    claim,
    domElement(
      "div",
      { className: "controls" },
      domElement("label", {}, "Language ", languages),
      domElement("label", {}, "Example ", examples),
      precisionLabel,
      run,
      stop,
      link,
    ),
    notice,
    editor.root,
    problem,
    spoken,
    cost,
    result,
    choice,
    panes,
  );
  if (found === "unreadable") notice.textContent = UNREADABLE;
  // Updates the address, as the device may differ from it.
  if (shared) await share();
  await compile();
  return async () => {
    closed = true;
    clearTimeout(timer);
    clearTimeout(speech);
    editor.close();
    compiler.close();
    runner.close();
  };
}

const count = (value: number): string => value.toLocaleString("en");

function costText({ work }: Forms): string {
  if (!work) return "";
  const { flops, bytes } = work;
  const intensity = bytes > 0 ? (flops / bytes).toPrecision(3) : "no";
  return `One launch: ${count(flops)} FLOPs, ${count(bytes)} bytes, ${intensity} FLOPs a byte.`;
}

const duration = (seconds: number): string =>
  seconds < 1e-3 ? `${(seconds * 1e6).toPrecision(3)} us` : `${(seconds * 1e3).toPrecision(3)} ms`;

function runText({ work }: Forms, { device, of, seconds, results, samples, remarks }: Ran): string {
  const list = (values: readonly number[]): string => values.map((value) => +value.toPrecision(6)).join(", ");
  const rate = (amount: number): string => (amount / seconds / 1e9).toPrecision(3);
  const rates = work ? `, ${rate(work.flops)} GFLOP/s, ${rate(work.bytes)} GB/s` : "";
  return [
    `${device}: ${duration(seconds)} a ${of}${rates}`,
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
      void listText(pre, name, text);
      continue;
    }
    const made = domElement("pre", { tabIndex: 0 });
    void listText(made, name, text);
    const pane = domElement("section", { id, hidden: !SHOWN.has(name) }, domElement("h3", { textContent: name }), made);
    pane.setAttribute("aria-label", name);
    const box = domElement("input", { type: "checkbox", checked: !pane.hidden });
    box.onchange = () => {
      pane.hidden = !box.checked;
      if (box.checked) SHOWN.add(name);
      else SHOWN.delete(name);
    };
    choice.append(domElement("label", {}, box, ` ${name}`));
    panes.append(pane);
  }
}
