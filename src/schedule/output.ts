import { BARRIER } from "./build.js";
import type { Stmt } from "./nodes.js";

/** Statements in the order in which a schedule makes them, with the line of the source that they come from. */
export class Output {
  private list: Stmt[] = [];
  /** Line of the kernel's statement that is being lowered; 0 for a schedule's own. */
  line = 0;

  put(...stmts: readonly Stmt[]): this {
    for (const stmt of stmts) {
      // Written into the statement, which is new: copies would take a tenth of a schedule's time.
      if (this.line > 0 && stmt !== BARRIER) (stmt as { line?: number }).line ??= this.line;
      this.list.push(stmt);
    }
    return this;
  }

  /** The statements that `make` puts, as a list of their own. */
  inside(make: () => void): Stmt[] {
    const outer = this.list;
    const { line } = this;
    const inner: Stmt[] = (this.list = []);
    make();
    this.list = outer;
    this.line = line;
    return inner;
  }

  /** The last statements of the list at hand, `count` of them. */
  last(count: number): readonly Stmt[] {
    return this.list.slice(-count);
  }

  takeBack(): this {
    this.list.pop();
    return this;
  }

  get statements(): readonly Stmt[] {
    return this.list;
  }
}
