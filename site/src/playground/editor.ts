import { defaultKeymap, history, historyKeymap, invertedEffects } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, lintKeymap, nextDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { CLASSES, grammar } from "./grammars.js";
import { problemText, type Language, type ProgramProblem } from "./messages.js";

/** Marks changes that the page makes. */
const shown = Annotation.define<true>();

const setTrusted = StateEffect.define<boolean>();

/**
 * Whether the text is one that the visitor has agreed to or typed: edits keep it, what the page shows sets it, and undoing or redoing that brings back what
 * held for the text then.
 */
const trusted = StateField.define<boolean>({
  create: () => false,
  update: (before, { effects }) => effects.reduce((now, effect) => (effect.is(setTrusted) ? effect.value : now), before),
});
const trustedHistory = invertedEffects.of(({ effects, startState }) =>
  effects.some((effect) => effect.is(setTrusted)) ? [setTrusted.of(startState.field(trusted))] : [],
);

/** CodeMirror in the colours of the page, which follow its theme. */
const COLOURS = EditorView.theme({
  "&": { backgroundColor: "var(--sheet)", border: "1px solid var(--line)", borderRadius: "0.4rem" },
  "&.cm-focused": { outline: "3px solid var(--accent)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sheet)", color: "var(--soft)", border: "0" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0.15em" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--sheet)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-tooltip": { border: "1px solid var(--line)", maxWidth: "min(40rem, 90vw)" },
  ".cm-panel.cm-panel-lint ul [aria-selected], .cm-panel.cm-panel-lint ul:focus [aria-selected]": {
    backgroundColor: "var(--mark)",
    color: "var(--ink)",
  },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
});

/** The editor of the program: CodeMirror, with problems at their places. */
export class Editor {
  private readonly view: EditorView;
  private readonly grammar = new Compartment();
  private language: Language | undefined;
  private wrong = false;

  /** `changed` is called after each edit of the visitor. */
  constructor(private readonly changed: () => void) {
    this.view = new EditorView();
  }

  get root(): HTMLElement {
    return this.view.dom;
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Whether the text may run: it, or what it was edited from, was shown as trusted, or the visitor has agreed to it. */
  get trusted(): boolean {
    return this.view.state.field(trusted);
  }

  /** Trusts the text as it stands. Edits before it cannot be undone any more: they lead to texts that nobody has agreed to. */
  trust(): void {
    const { doc, selection } = this.view.state;
    this.begin(this.language!, doc.toString(), true, selection.main.head);
  }

  /** Replaces the text; in the same language this can be undone. */
  show(language: Language, text: string, isTrusted: boolean): void {
    this.view.scrollDOM.scrollLeft = 0;
    if (language === this.language) {
      const changes = { from: 0, to: this.view.state.doc.length, insert: text };
      this.view.dispatch({ changes, effects: setTrusted.of(isTrusted), annotations: shown.of(true) });
      return;
    }
    this.begin(language, text, isTrusted, 0);
  }

  /** Begins anew with a text, and without anything to undo. */
  private begin(language: Language, text: string, isTrusted: boolean, anchor: number): void {
    this.language = language;
    const extensions = [trusted.init(() => isTrusted), trustedHistory, this.extensions()];
    this.view.setState(EditorState.create({ doc: text, selection: { anchor }, extensions }));
    void grammar(language).then((found) => {
      if (this.language === language) this.view.dispatch({ effects: this.grammar.reconfigure(found) });
    });
  }

  /** Shows problems at their places; those without one only make the text invalid. */
  mark(problems: readonly ProgramProblem[]): void {
    this.wrong = problems.length > 0;
    this.view.dispatch(
      setDiagnostics(
        this.view.state,
        problems.flatMap((problem) => this.diagnostic(problem) ?? []),
      ),
    );
  }

  close(): void {
    this.view.destroy();
  }

  private extensions(): Extension {
    return [
      lineNumbers(),
      lintGutter(),
      history(),
      bracketMatching(),
      indentOnInput(),
      syntaxHighlighting(CLASSES),
      COLOURS,
      this.grammar.of([]),
      // Tab is not among them: it leaves the editor.
      keymap.of([{ key: "F8", run: nextProblem }, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
      EditorView.contentAttributes.of(() => ({
        id: "source",
        "aria-label": "Source of the program. Tab leaves the editor, F8 goes to the next problem.",
        "aria-describedby": "problem",
        "aria-invalid": String(this.wrong),
      })),
      EditorView.updateListener.of(({ docChanged, transactions }) => {
        if (docChanged && !transactions.some((transaction) => transaction.annotation(shown))) this.changed();
      }),
    ];
  }

  private diagnostic(problem: ProgramProblem): Diagnostic | undefined {
    const { doc } = this.view.state;
    const { line, column = 1 } = problem;
    if (line === undefined || line < 1 || line > doc.lines) return undefined;
    const { from, to, text } = doc.line(line);
    const at = Math.min(from + column - 1, to);
    // The name or number that begins there, else one letter.
    const length = /^\w+/.exec(text.slice(at - from))?.[0].length ?? 1;
    return { from: at, to: Math.min(at + length, to), severity: "error", message: problemText(problem, "short") };
  }
}

/** Goes to the next problem, and has it read aloud. */
function nextProblem(view: EditorView): boolean {
  if (!nextDiagnostic(view)) return false;
  const { from } = view.state.selection.main;
  forEachDiagnostic(view.state, ({ message }, begin) => {
    if (begin === from) view.dispatch({ effects: EditorView.announce.of(message) });
  });
  return true;
}
