import type * as acorn from "acorn";
import { asPattern, ExpressionParser, type Node, type Start } from "./expressions.js";
import type { Token } from "./tokens.js";

/*
 * The parser of browsers, what `#parser` means there: it makes the ESTree that acorn makes (https://github.com/estree/estree) of the text
 * of functions, and is a tenth of its size. An engine has accepted the text before, so it need not tell right from wrong. Classes, which kernels
 * have not, are taken as a whole.
 */

const DECLARES = new Set(["var", "let", "const"]);

/** The expression that begins at `at`. Throws SyntaxError if there is none. */
export function parseExpressionAt(text: string, at: number, _options?: acorn.Options): acorn.Expression {
  return new Parser(text, at).expression() as unknown as acorn.Expression;
}

class Parser extends ExpressionParser {
  private statement(): Node {
    const begin = this.token;
    if (begin.kind === "mark" && begin.text === "{") return this.block();
    if (this.take(";")) return this.node(begin, "EmptyStatement", {});
    if (begin.kind === "name") {
      const made = this.keyword(begin);
      if (made) return made;
    }
    const expression = this.expression();
    if (expression.type === "Identifier" && this.take(":"))
      return this.node(begin, "LabeledStatement", { body: this.statement(), label: expression });
    this.semicolon();
    return this.node(begin, "ExpressionStatement", { expression });
  }

  protected block(): Node {
    const begin = this.token;
    this.expect("{");
    const body: Node[] = [];
    while (!this.take("}")) body.push(this.statement());
    return this.node(begin, "BlockStatement", { body });
  }

  /** The statement that a word begins, if it begins one. */
  private keyword(begin: Token): Node | undefined {
    const after = this.peek();
    switch (begin.text) {
      case "let":
        return after.kind === "name" || after.text === "[" || after.text === "{" ? this.declared(begin) : undefined;
      case "var":
      case "const":
        return this.declared(begin);
      case "function":
        return this.function(begin, "FunctionDeclaration", false);
      case "async":
        if (after.text !== "function" || after.onNewLine) return undefined;
        this.next();
        return this.function(begin, "FunctionDeclaration", true);
      case "class":
        return this.class("ClassDeclaration");
      case "if":
        return this.choice(begin);
      case "for":
        return this.loop(begin);
      case "while": {
        this.next();
        const test = this.condition();
        return this.node(begin, "WhileStatement", { test, body: this.statement() });
      }
      case "do":
        return this.doWhile(begin);
      case "return":
      case "throw": {
        this.next();
        const none = this.is(";") || this.is("}") || this.token.onNewLine || this.token.kind === "end";
        const argument = none ? null : this.expression();
        this.semicolon();
        return this.node(begin, begin.text === "return" ? "ReturnStatement" : "ThrowStatement", { argument });
      }
      case "break":
      case "continue": {
        this.next();
        const label = this.token.kind === "name" && !this.token.onNewLine ? this.identifier() : null;
        this.semicolon();
        return this.node(begin, begin.text === "break" ? "BreakStatement" : "ContinueStatement", { label });
      }
      case "switch":
        return this.switch(begin);
      case "try":
        return this.try(begin);
      case "debugger":
        this.next();
        this.semicolon();
        return this.node(begin, "DebuggerStatement", {});
      // Any other statement begins with no word of its own.
      default:
        return undefined;
    }
  }

  private declared(begin: Start): Node {
    const { declarations, kind } = this.declaration();
    this.semicolon();
    return this.node(begin, "VariableDeclaration", { declarations, kind });
  }

  private declaration(): Node {
    const begin = this.next();
    const declarations: Node[] = [];
    do {
      const start = this.token;
      const id = this.target();
      const init = this.take("=") ? this.assignment() : null;
      declarations.push(this.node(start, "VariableDeclarator", { id, init }));
    } while (this.take(","));
    return this.node(begin, "VariableDeclaration", { declarations, kind: begin.text });
  }

  /** Target of a declaration: a name or a pattern. */
  private target(): Node {
    return this.token.kind === "name" ? this.identifier() : asPattern(this.primary());
  }

  private condition(): Node {
    this.expect("(");
    const test = this.expression();
    this.expect(")");
    return test;
  }

  private choice(begin: Start): Node {
    this.next();
    const test = this.condition();
    const consequent = this.statement();
    return this.node(begin, "IfStatement", { test, consequent, alternate: this.take("else") ? this.statement() : null });
  }

  private doWhile(begin: Start): Node {
    this.next();
    const body = this.statement();
    this.expect("while");
    const test = this.condition();
    this.take(";");
    return this.node(begin, "DoWhileStatement", { body, test });
  }

  private loop(begin: Start): Node {
    this.next();
    const awaits = this.take("await");
    this.expect("(");
    const init = this.is(";") ? null : this.head();
    if (this.is("of") || this.is("in")) {
      const over = this.next().text;
      const left = init!.type === "VariableDeclaration" ? init : asPattern(init!);
      const right = over === "of" ? this.assignment() : this.expression();
      this.expect(")");
      const parts = { ...(over === "of" ? { await: awaits } : {}), left, right };
      return this.node(begin, over === "of" ? "ForOfStatement" : "ForInStatement", { ...parts, body: this.statement() });
    }
    this.expect(";");
    const test = this.is(";") ? null : this.expression();
    this.expect(";");
    const update = this.is(")") ? null : this.expression();
    this.expect(")");
    return this.node(begin, "ForStatement", { init, test, update, body: this.statement() });
  }

  /** First part in the head of a loop. */
  private head(): Node {
    this.noIn = true;
    const declares = this.token.kind === "name" && DECLARES.has(this.token.text);
    const init = declares ? this.declaration() : this.expression();
    this.noIn = false;
    return init;
  }

  private switch(begin: Start): Node {
    this.next();
    const discriminant = this.condition();
    this.expect("{");
    const cases: Node[] = [];
    while (!this.take("}")) {
      const start = this.token;
      const test = this.take("default") ? null : (this.expect("case"), this.expression());
      this.expect(":");
      const consequent: Node[] = [];
      while (!this.is("case") && !this.is("default") && !this.is("}")) consequent.push(this.statement());
      cases.push(this.node(start, "SwitchCase", { consequent, test }));
    }
    return this.node(begin, "SwitchStatement", { discriminant, cases });
  }

  private try(begin: Start): Node {
    this.next();
    const block = this.block();
    const start = this.token;
    let handler: Node | null = null;
    if (this.take("catch")) {
      let param: Node | null = null;
      if (this.take("(")) {
        param = this.target();
        this.expect(")");
      }
      handler = this.node(start, "CatchClause", { param, body: this.block() });
    }
    return this.node(begin, "TryStatement", { block, handler, finalizer: this.take("finally") ? this.block() : null });
  }
}
