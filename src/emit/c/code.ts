/** Lines of generated source with their indentation. */
export class Code {
  private readonly lines: string[] = [];
  private depth = 0;
  /** Names declared by lines, by their numbers, that are left out where nothing uses them. */
  private readonly declarations = new Map<number, string>();

  line(text = ""): this {
    this.lines.push(text === "" ? "" : "  ".repeat(this.depth) + text);
    return this;
  }

  /** The last lines, `count` of them, without their indentation. */
  last(count: number): string[] {
    return this.lines.slice(-count).map((line) => line.trimStart());
  }

  /** Takes the last line back. */
  takeBack(): this {
    this.lines.pop();
    return this;
  }

  /** A line that declares `name`, left out where no other line has that name: compilers warn of it. */
  declaration(name: string, text: string): this {
    this.declarations.set(this.lines.length, name);
    return this.line(text);
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
    const isUsed = (name: string, at: number): boolean => {
      const word = new RegExp(`\\b${name}\\b`);
      return this.lines.some((line, n) => n !== at && word.test(line));
    };
    return this.lines.filter((_, n) => !this.declarations.has(n) || isUsed(this.declarations.get(n)!, n)).join("\n") + "\n";
  }
}
