/** Lines of generated source with their indentation. */
export class Code {
  private readonly lines: string[] = [];
  private depth = 0;

  line(text = ""): this {
    this.lines.push(text === "" ? "" : "  ".repeat(this.depth) + text);
    return this;
  }

  /** Each line of `text`, indented as a whole. */
  text(text: string): this {
    for (const line of text.split("\n")) this.line(line);
    return this;
  }

  /** `head {`, what `inside` writes, `}` and `tail`. */
  block(head: string, inside: () => void, tail = ""): this {
    this.line(head === "" ? "{" : `${head} {`);
    this.indented(inside);
    return this.line(`}${tail}`);
  }

  indented(inside: () => void): this {
    this.depth++;
    inside();
    this.depth--;
    return this;
  }

  toString(): string {
    return this.lines.join("\n") + "\n";
  }
}
