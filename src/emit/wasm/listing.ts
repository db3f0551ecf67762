import { unreachable } from "../../base/unreachable.js";
import { opcodes } from "./opcodes.js";

const TYPES: Record<number, string> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128" };

const names = new Map(Array.from(opcodes(), ({ prefix, code, name }) => [prefix * 0x10000 + code, name]));

/** Kind of immediate after an opcode. */
function immediateOf(name: string): "none" | "memory" | "lane" | "memoryLane" | "shuffle" {
  if (name === "i8x16.shuffle") return "shuffle";
  if (/(extract|replace)_lane/.test(name)) return "lane";
  if (/(load|store)\d+_lane/.test(name)) return "memoryLane";
  return /\.(load|store|atomic)/.test(name) ? "memory" : "none";
}

/** A module of this encoder as readable text: the WebAssembly text format, one instruction a line, indented by blocks. */
export function listing(bytes: Uint8Array): string {
  return new Reader(bytes).module();
}

class Reader {
  private at = 0;
  private readonly view: DataView;
  private readonly lines: string[] = [];
  private readonly types: { params: string[]; results: string[] }[] = [];
  private readonly functionTypes: number[] = [];
  private imported = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  module(): string {
    const names = this.functionNames();
    this.at = 8;
    this.lines.push("(module");
    while (this.at < this.bytes.length) {
      const id = this.byte();
      const end = this.u32() + this.at;
      if (id === 1) this.each(() => this.types.push(this.functionType()));
      else if (id === 2) this.each(() => this.import());
      else if (id === 3) this.each(() => this.functionTypes.push(this.u32()));
      else if (id === 7) this.each(() => this.export(names));
      else if (id === 10) {
        let n = 0;
        this.each(() => this.functionBody(names, n++));
      }
      this.at = end;
    }
    return `${this.lines.join("\n")}\n)\n`;
  }

  /** From the custom section at the module's end. */
  private functionNames(): Map<number, string> {
    const names = new Map<number, string>();
    this.at = 8;
    while (this.at < this.bytes.length) {
      const id = this.byte();
      const end = this.u32() + this.at;
      if (id === 0 && this.name() === "name") {
        this.byte();
        this.u32();
        this.each(() => names.set(this.u32(), this.name()));
      }
      this.at = end;
    }
    return names;
  }

  private functionType() {
    this.byte();
    const list = () => {
      const types: string[] = [];
      this.each(() => types.push(TYPES[this.byte()]));
      return types;
    };
    return { params: list(), results: list() };
  }

  private import(): void {
    const [module, name, kind] = [this.name(), this.name(), this.byte()];
    if (kind === 0) {
      const type = this.types[this.u32()];
      this.lines.push(`  (import "${module}" "${name}" (func ${signature(type)}))`);
      this.imported++;
    } else {
      const flags = this.byte();
      const limits = `${flags & 4 ? "i64 " : ""}${this.u32()} ${this.u32()}${flags & 2 ? " shared" : ""}`;
      this.lines.push(`  (import "${module}" "${name}" (memory ${limits}))`);
    }
  }

  private export(names: Map<number, string>): void {
    const name = this.name();
    this.byte();
    this.lines.push(`  (export "${name}" (func $${names.get(this.u32())}))`);
  }

  private functionBody(names: Map<number, string>, n: number): void {
    const end = this.u32() + this.at;
    const type = this.types[this.functionTypes[n]];
    this.lines.push(`  (func $${names.get(this.imported + n)} ${signature(type)}`);
    let local = type.params.length;
    this.each(() => {
      const count = this.u32();
      const of = TYPES[this.byte()];
      this.lines.push(`    (local ${Array(count).fill(of).join(" ")}) ;; from ${local}`);
      local += count;
    });
    let depth = 2;
    while (this.at < end - 1) {
      const text = this.instruction(names);
      if (text === "end" || text === "else") depth--;
      this.lines.push("  ".repeat(depth) + text);
      if (/^(block|loop|if|else)/.test(text)) depth++;
    }
    this.at = end;
    this.lines.push("  )");
  }

  private instruction(names: Map<number, string>): string {
    const code = this.byte();
    switch (code) {
      case 0x02:
      case 0x03:
      case 0x04: {
        const type = TYPES[this.byte()];
        return ["block", "loop", "if"][code - 2] + (type ? ` (result ${type})` : "");
      }
      case 0x05:
        return "else";
      case 0x0b:
        return "end";
      case 0x0c:
        return `br ${this.u32()}`;
      case 0x0d:
        return `br_if ${this.u32()}`;
      case 0x10: {
        const index = this.u32();
        return `call ${names.has(index) ? `$${names.get(index)}` : index}`;
      }
      case 0x20:
        return `local.get ${this.u32()}`;
      case 0x21:
        return `local.set ${this.u32()}`;
      case 0x22:
        return `local.tee ${this.u32()}`;
      case 0x41:
        return `i32.const ${this.s32()}`;
      case 0x42:
        return `i64.const ${this.s64()}`;
      case 0x43:
        return `f32.const ${this.float(4)}`;
      case 0x44:
        return `f64.const ${this.float(8)}`;
      // Any other byte is an opcode of the table, or begins one.
      default:
        return this.fromTable(code);
    }
  }

  private fromTable(code: number): string {
    const name = names.get(code >= 0xfc ? code * 0x10000 + this.u32() : code);
    if (name === undefined) return code === 0xfd ? `v128.const i32x4 ${this.words(4).join(" ")}` : `;; unknown ${code}`;
    const immediate = immediateOf(name);
    switch (immediate) {
      case "none":
        return name;
      case "lane":
        return `${name} ${this.byte()}`;
      case "shuffle":
        return `${name} ${Array.from({ length: 16 }, () => this.byte()).join(" ")}`;
      case "memory":
      case "memoryLane": {
        this.u32();
        const offset = this.u32();
        return `${name}${offset ? ` offset=${offset}` : ""}${immediate === "memoryLane" ? ` ${this.byte()}` : ""}`;
      }
      default:
        return unreachable(immediate);
    }
  }

  private each(read: () => void): void {
    for (let count = this.u32(); count > 0; count--) read();
  }
  private byte(): number {
    return this.bytes[this.at++];
  }
  private u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
  private s32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return shift < 25 && byte & 0x40 ? value | (-1 << (shift + 7)) : value;
    }
  }
  private s64(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return byte & 0x40 ? value - 128 * scale : value;
    }
  }
  private float(size: 4 | 8): string {
    const value = size === 4 ? this.view.getFloat32(this.at, true) : this.view.getFloat64(this.at, true);
    this.at += size;
    return Object.is(value, -0) ? "-0" : String(value).replace("Infinity", "inf").replace("NaN", "nan");
  }
  private words(count: number): string[] {
    return Array.from({ length: count }, () => {
      const word = this.view.getUint32(this.at, true);
      this.at += 4;
      return `0x${word.toString(16).padStart(8, "0")}`;
    });
  }
  private name(): string {
    const length = this.u32();
    this.at += length;
    return new TextDecoder().decode(this.bytes.slice(this.at - length, this.at));
  }
}

const signature = (type: { params: string[]; results: string[] }): string =>
  [...type.params.map((t) => `(param ${t})`), ...type.results.map((t) => `(result ${t})`)].join(" ");
