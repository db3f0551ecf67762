/** What a device makes of the operations that WGSL leaves open, from values rounded to f32. */
export interface Arithmetic {
  quotient(a: number, b: number): number;
  root(a: number): number;
  fma?(a: number, b: number, c: number): number;
}

type Type = "u32" | "i32" | "f32" | "bool" | "int" | "vec2<f32>";
/** An expression in JavaScript and its type in WGSL; "int" is a whole literal, which takes the type of what it meets. */
type Typed = readonly [js: string, type: Type];

const STRENGTH: Readonly<Record<string, number>> = Object.fromEntries(
  [["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]].flatMap((row, n) =>
    row.map((sign) => [sign, n]),
  ),
);
const WRAPS: Readonly<Record<Type, (js: string) => string>> = {
  u32: (js) => `(${js} >>> 0)`,
  i32: (js) => `(${js} | 0)`,
  int: (js) => `(${js} | 0)`,
  f32: (js) => `Math.fround(${js})`,
  bool: (js) => `!!(${js})`,
  "vec2<f32>": (js) => js,
};
/** What every launch tells. */
const LAUNCH: Readonly<Record<string, Typed>> = { zero: ["0", "u32"], one: ["1", "f32"] };

/** Runs functions of WGSL over scalars and pairs of f32, which are arrays here, without control flow, in JavaScript with the arithmetic of a device. */
export function model(wgsl: string, arithmetic: Arithmetic): Readonly<Record<string, (...args: number[]) => number>> {
  const heads = [...wgsl.matchAll(/fn (\w+)\(([^)]*)\) -> ([\w<>]+) \{/g)];
  const results = new Map(heads.map(([, name, , type]) => [name, type as Type]));
  const text = heads.map((head, n) => {
    const locals = new Map<string, Type>();
    const params = head[2].split(",").map((param) => param.split(":").map((word) => word.trim()));
    for (const [name, type] of params) locals.set(name, type as Type);
    const body = wgsl.slice(head.index + head[0].length, heads[n + 1]?.index).replace(/\/\*.*?\*\//gs, "");
    const lines = body.slice(0, body.lastIndexOf("}")).split(";").slice(0, -1);
    return `function ${head[1]}(${params.map(([name]) => name)}) {\n${lines.map((line) => statement(line.trim(), locals, results)).join("\n")}\n}`;
  });
  const make = new Function("arithmetic", `"use strict";\n${CONVERSIONS}\n${text.join("\n")}\nreturn { ${[...results.keys()]} };`);
  return make(arithmetic);
}

const CONVERSIONS = `
const words = new Uint32Array(1), floats = new Float32Array(words.buffer);
const toBits = (x) => ((floats[0] = x), words[0]);
const fromBits = (x) => ((words[0] = x), floats[0]);
const toU32 = (x) => (x > 4294967040 ? 4294967295 : x > 0 ? Math.trunc(x) : 0);
const whole = (a, b) => (b === 0 ? a : Math.trunc(a / b));
const left = (a, b) => (b === 0 ? 0 : a % b);`;

function statement(line: string, locals: Map<string, Type>, results: ReadonlyMap<string, Type>): string {
  const parts = /^(?:return|(let|var) (\w+) =|(\w+) (\W?)=) (.*)$/s.exec(line);
  if (!parts) throw new Error(`not in the model: ${line}`);
  const [, declares, declared, assigned, sign, right] = parts;
  if (assigned) {
    const [js, type] = expression(sign ? `${assigned} ${sign} (${right})` : right, locals, results);
    if (type !== locals.get(assigned)) throw new Error(`${type} to ${assigned}`);
    return `${assigned} = ${js};`;
  }
  const [js, type] = expression(right, locals, results);
  if (!declares) return `return ${js};`;
  locals.set(declared, type);
  return `let ${declared} = ${js};`;
}

function expression(text: string, locals: ReadonlyMap<string, Type>, results: ReadonlyMap<string, Type>): Typed {
  const tokens = text.match(/0x[\da-f]+(?:p-?\d+f|u)|\d+\.\d+|\d+u?|bitcast<\w+>|vec2<f32>|\w+|<<|>>|[<>=!]=|\S/g)!;
  let next = 0;
  const expect = (token: string): void => {
    if (tokens[next++] !== token) throw new Error(`${tokens[next - 1]} instead of ${token} in ${text}`);
  };

  const binary = (least: number): Typed => {
    let a = term();
    while ((STRENGTH[tokens[next]] ?? -1) >= least) {
      const sign = tokens[next++];
      a = combined(sign, a, binary(STRENGTH[sign] + 1));
    }
    return a;
  };
  const term = (): Typed => {
    const token = tokens[next++];
    if (token === "(") {
      const inner = binary(0);
      expect(")");
      return inner;
    }
    if (token === "-") {
      const [js, type] = term();
      return [type === "vec2<f32>" ? `${js}.map((part) => -part)` : WRAPS[type](`-${js}`), type];
    }
    if (token === "!") return [`!${term()[0]}`, "bool"];
    if (/^\d+\./.test(token)) return [token, "f32"];
    if (/^0x.*f$/.test(token)) {
      const [, digits, power] = /0x(\d)p(-?\d+)f/.exec(token)!;
      return [String(Number(digits) * 2 ** Number(power)), "f32"];
    }
    if (/^\d/.test(token)) return [String(Number.parseInt(token)), token.endsWith("u") ? "u32" : "int"];
    if (tokens[next] === ".") {
      const part = tokens[(next += 2) - 1];
      return token === "launch" ? LAUNCH[part] : [`${token}[${"xy".indexOf(part)}]`, "f32"];
    }
    if (tokens[next] !== "(") return [token, locals.get(token)!];
    const args: Typed[] = [];
    do {
      next++;
      args.push(binary(0));
    } while (tokens[next] === ",");
    expect(")");
    return called(token, args, results);
  };
  const whole = binary(0);
  if (next !== tokens.length) throw new Error(`${tokens[next]} is left of ${text}`);
  return whole;
}

/** The type of two operands, where a whole literal takes that of the other. */
function common(a: Typed, b: Typed): Type {
  const type = a[1] === "int" ? b[1] : a[1];
  if (b[1] !== "int" && b[1] !== type) throw new Error(`${a} and ${b} differ in type`);
  return type;
}

function combined(sign: string, a: Typed, b: Typed): Typed {
  if (sign === "<<" || sign === ">>") {
    if (b[1] !== "u32") throw new Error(`${a[0]} is shifted by ${b}`);
    return [WRAPS[a[1]](`(${a[0]} ${sign === ">>" && a[1] === "u32" ? ">>>" : sign} ${b[0]})`), a[1]];
  }
  const type = common(a, b);
  if (type === "bool") return [`(${a[0]} ${sign}${sign} ${b[0]})`, type];
  if (/[<>=]/.test(sign)) return [`(${a[0]} ${sign === "==" || sign === "!=" ? `${sign}=` : sign} ${b[0]})`, "bool"];
  if (type === "f32") return [sign === "/" ? `arithmetic.quotient(${a[0]}, ${b[0]})` : `Math.fround(${a[0]} ${sign} ${b[0]})`, type];
  if (sign === "*") return [WRAPS[type](`Math.imul(${a[0]}, ${b[0]})`), type];
  if (sign === "/" || sign === "%") return [WRAPS[type](`${sign === "/" ? "whole" : "left"}(${a[0]}, ${b[0]})`), type];
  return [WRAPS[type](`(${a[0]} ${sign} ${b[0]})`), type];
}

function called(name: string, args: readonly Typed[], results: ReadonlyMap<string, Type>): Typed {
  const list = args.map(([js]) => js).join(", ");
  const [[first, type]] = args;
  switch (name) {
    case "bitcast<u32>":
      return [type === "f32" ? `toBits(${list})` : `(${list} >>> 0)`, "u32"];
    case "bitcast<f32>":
      return [`fromBits(${list})`, "f32"];
    case "u32":
      return [type === "f32" ? `toU32(${list})` : WRAPS.u32(`Number(${list})`), "u32"];
    case "i32":
      return [WRAPS.i32(`Number(${list})`), "i32"];
    case "f32":
      return [WRAPS.f32(list), "f32"];
    case "vec2<f32>":
      return [`[${list}]`, name];
    case "fma":
      return [`arithmetic.fma(${list})`, "f32"];
    case "sqrt":
      return [`arithmetic.root(${list})`, "f32"];
    case "countLeadingZeros":
      return [`Math.clz32(${list})`, type];
    case "max":
      return [`Math.max(${list})`, common(args[0], args[1])];
    case "clamp":
      return [`Math.min(Math.max(${first}, ${args[1][0]}), ${args[2][0]})`, common(args[0], args[1])];
    case "select":
      return [`(${args[2][0]} ? ${args[1][0]} : ${first})`, common(args[0], args[1])];
    default: {
      const result = results.get(name);
      if (!result) throw new Error(`not in the model: ${name}`);
      return [`${name}(${list})`, result];
    }
  }
}
