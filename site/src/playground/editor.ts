import { element } from "../element.js";
import type { Problem } from "./messages.js";

/** A text area with numbers of lines, of which those with a problem are marked. */
export class Editor {
  readonly root: HTMLElement;
  private readonly area = element("textarea", { id: "source", spellcheck: false, autocapitalize: "off", wrap: "off" });
  private readonly lines = element("ol", { ariaHidden: "true" });

  /** `changed` is called after each edit. */
  constructor(changed: () => void) {
    this.area.setAttribute("aria-label", "Source of the program. Tab leaves the editor.");
    this.area.setAttribute("aria-describedby", "problem");
    this.root = element("div", { className: "editor" }, this.lines, this.area);
    this.area.addEventListener("input", () => {
      this.number();
      changed();
    });
  }

  get text(): string {
    return this.area.value;
  }
  set text(text: string) {
    this.area.value = text;
    this.number();
  }

  /** Marks the lines of problems, or none. */
  mark(problems: readonly Problem[]): void {
    this.area.setAttribute("aria-invalid", String(problems.length > 0));
    const wrong = new Set(problems.map(({ line }) => line));
    [...this.lines.children].forEach((line, n) => line.classList.toggle("wrong", wrong.has(n + 1)));
  }

  private number(): void {
    const count = this.text.split("\n").length;
    this.area.rows = count;
    this.lines.replaceChildren(...Array.from({ length: count }, (_, n) => element("li", { textContent: String(n + 1) })));
  }
}
