import { opcode } from "./opcodes.js";

/* A direct encoder of WebAssembly modules: typed methods that append bytes, no tree in between. */

export type ValType = "i32" | "i64" | "f32" | "f64" | "v128";
const VAL_TYPES: Record<ValType, number> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };
const EMPTY_BLOCK = 0x40;
/** Pages of 64 KiB that a memory can have, with 32-bit and with 64-bit addresses. */
const MAX_PAGES = { narrow: 65536, wide: 262144 };

/** A growing sequence of bytes. */
class Bytes {
  private data = new Uint8Array(256);
  private view = new DataView(this.data.buffer);
  length = 0;

  byte(value: number): void {
    this.reserve(1);
    this.data[this.length++] = value;
  }
  /** Unsigned LEB128 of a whole number that is not negative. */
  u32(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
  }
  /** Signed LEB128 of an i32. */
  s32(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && !(low & 0x40)) || (rest === -1 && low & 0x40)) return this.byte(low);
      this.byte(low | 0x80);
    }
  }
  /** Signed LEB128 of a whole number. */
  s64(value: number): void {
    let rest = value;
    for (;;) {
      const low = ((rest % 128) + 128) % 128;
      rest = (rest - low) / 128;
      if ((rest === 0 && low < 64) || (rest === -1 && low >= 64)) return this.byte(low);
      this.byte(low | 0x80);
    }
  }
  signed(value: bigint): void {
    let rest = value;
    for (;;) {
      const low = Number(rest & 127n);
      rest >>= 7n;
      if ((rest === 0n && low < 64) || (rest === -1n && low >= 64)) return this.byte(low);
      this.byte(low | 0x80);
    }
  }
  f32(value: number): void {
    this.reserve(4);
    this.view.setFloat32(this.length, value, true);
    this.length += 4;
  }
  f64(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }
  name(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.u32(encoded.length);
    this.append(encoded);
  }
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.data.set(bytes, this.length);
    this.length += bytes.length;
  }
  /** The bytes so far; valid until the next append. */
  done(): Uint8Array<ArrayBuffer> {
    return this.data.subarray(0, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.data.length) return;
    const larger = new Uint8Array(Math.max(2 * this.data.length, this.length + more));
    larger.set(this.done());
    this.data = larger;
    this.view = new DataView(larger.buffer);
  }
}

/** A block that is open; the target of branches. */
export type Label = number;
/** A place in a function at which code can be added later. */
export interface Gap {
  readonly bytes: Bytes;
  readonly depth: number;
}

/** One function under construction. Parameters are the first locals. */
export class FunctionBuilder {
  private code = new Bytes();
  private readonly pieces: Bytes[] = [this.code];
  private readonly locals: ValType[] = [];
  private depth = 0;

  constructor(
    /** Its index among all functions of the module. */
    readonly index: number,
    readonly name: string,
    readonly params: readonly ValType[],
    readonly results: readonly ValType[],
  ) {}

  /** A new local variable. */
  local(type: ValType): number {
    this.locals.push(type);
    return this.params.length + this.locals.length - 1;
  }

  /** Leaves a gap here: `within` can add code to it later, while the function continues after it. */
  gap(): Gap {
    const gap = { bytes: new Bytes(), depth: this.depth };
    this.code = new Bytes();
    this.pieces.push(gap.bytes, this.code);
    return gap;
  }
  /** Runs `emit` with its code going to the end of the gap. */
  within(gap: Gap, emit: () => void): void {
    const [code, depth] = [this.code, this.depth];
    this.code = gap.bytes;
    this.depth = gap.depth;
    emit();
    this.code = code;
    this.depth = depth;
  }

  /** An instruction without immediates. */
  op(name: string): void {
    this.opcode(name);
  }
  i32(value: number): void {
    this.code.byte(0x41);
    this.code.s32(value);
  }
  i64(value: number | bigint): void {
    this.code.byte(0x42);
    if (typeof value === "bigint") this.code.signed(BigInt.asIntN(64, value));
    else this.code.s64(value);
  }
  f32(value: number): void {
    this.code.byte(0x43);
    this.code.f32(value);
  }
  f64(value: number): void {
    this.code.byte(0x44);
    this.code.f64(value);
  }
  /** A vector of four 32-bit words. */
  v128(words: readonly [number, number, number, number]): void {
    this.code.byte(0xfd);
    this.code.u32(12);
    this.code.append(new Uint8Array(new Int32Array(words).buffer));
  }
  get(local: number): void {
    this.code.byte(0x20);
    this.code.u32(local);
  }
  set(local: number): void {
    this.code.byte(0x21);
    this.code.u32(local);
  }
  tee(local: number): void {
    this.code.byte(0x22);
    this.code.u32(local);
  }
  call(index: number): void {
    this.code.byte(0x10);
    this.code.u32(index);
  }
  /** A load, store or atomic at the address on the stack plus `offset`. */
  memory(name: string, offset: number): void {
    this.opcode(name);
    this.memarg(name, offset);
  }
  /** A load or store of one lane. */
  memoryLane(name: string, offset: number, lane: number): void {
    this.opcode(name);
    this.memarg(name, offset);
    this.code.byte(lane);
  }
  /** extract_lane and replace_lane. */
  lane(name: string, lane: number): void {
    this.opcode(name);
    this.code.byte(lane);
  }
  shuffle(lanes: readonly number[]): void {
    this.opcode("i8x16.shuffle");
    for (const lane of lanes) this.code.byte(lane);
  }

  block(): Label {
    return this.open(0x02);
  }
  loop(): Label {
    return this.open(0x03);
  }
  if(type?: ValType): Label {
    return this.open(0x04, type);
  }
  else(): void {
    this.code.byte(0x05);
  }
  end(): void {
    this.code.byte(0x0b);
    this.depth--;
  }
  br(label: Label): void {
    this.code.byte(0x0c);
    this.code.u32(this.depth - label);
  }
  brIf(label: Label): void {
    this.code.byte(0x0d);
    this.code.u32(this.depth - label);
  }

  /** Writes the function as an entry of the code section. */
  write(out: Bytes): void {
    const runs: [ValType, number][] = [];
    for (const type of this.locals)
      if (runs.at(-1)?.[0] === type) runs.at(-1)![1]++;
      else runs.push([type, 1]);
    const head = new Bytes();
    head.u32(runs.length);
    for (const [type, count] of runs) {
      head.u32(count);
      head.byte(VAL_TYPES[type]);
    }
    out.u32(head.length + this.pieces.reduce((n, piece) => n + piece.length, 1));
    for (const piece of [head, ...this.pieces]) out.append(piece.done());
    out.byte(0x0b);
  }

  private open(code: number, type?: ValType): Label {
    this.code.byte(code);
    this.code.byte(type ? VAL_TYPES[type] : EMPTY_BLOCK);
    return ++this.depth;
  }
  private opcode(name: string): void {
    const { prefix, code } = opcode(name);
    if (prefix === 0) return this.code.byte(code);
    this.code.byte(prefix);
    this.code.u32(code);
  }
  /** Atomics demand their natural alignment as the hint; for all others the hint has no effect. */
  private memarg(name: string, offset: number): void {
    this.code.byte(name.startsWith("i64.atomic") ? 3 : name.startsWith("i32.atomic") ? 2 : 0);
    this.code.u32(offset);
  }
}

interface ImportedFunction {
  module: string;
  name: string;
  type: number;
}

/** A module with one imported memory. Imports must be asked for before the first function is added. */
export class ModuleBuilder {
  private readonly types: string[] = [];
  private readonly typeBytes = new Bytes();
  private readonly imports: ImportedFunction[] = [];
  private readonly functions: FunctionBuilder[] = [];
  private readonly exports: [string, number][] = [];

  /** Both as the memory that will be given: shared between threads, with 64-bit addresses. */
  constructor(
    private readonly shared: boolean,
    private readonly wide = false,
  ) {}

  /** Index of an imported function; the same for the same name. */
  import(module: string, name: string, params: readonly ValType[], results: readonly ValType[]): number {
    const known = this.imports.findIndex((i) => i.module === module && i.name === name);
    if (known >= 0) return known;
    if (this.functions.length > 0) throw new Error(`import of ${module}.${name} after the first function`);
    return this.imports.push({ module, name, type: this.type(params, results) }) - 1;
  }

  function(name: string, params: readonly ValType[], results: readonly ValType[] = []): FunctionBuilder {
    const builder = new FunctionBuilder(this.imports.length + this.functions.length, name, params, results);
    this.functions.push(builder);
    return builder;
  }

  export(name: string, target: FunctionBuilder): void {
    this.exports.push([name, target.index]);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const out = new Bytes();
    out.append(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    const functionTypes = this.functions.map((f) => this.type(f.params, f.results));
    const section = (id: number, fill: (body: Bytes) => void) => {
      const body = new Bytes();
      fill(body);
      out.byte(id);
      out.u32(body.length);
      out.append(body.done());
    };
    section(1, (body) => {
      body.u32(this.types.length);
      body.append(this.typeBytes.done());
    });
    section(2, (body) => {
      body.u32(this.imports.length + 1);
      for (const { module, name, type } of this.imports) {
        body.name(module);
        body.name(name);
        body.byte(0);
        body.u32(type);
      }
      body.name("env");
      body.name("memory");
      body.byte(2);
      body.byte((this.shared ? 3 : 1) | (this.wide ? 4 : 0));
      body.u32(1);
      body.u32(this.wide ? MAX_PAGES.wide : MAX_PAGES.narrow);
    });
    section(3, (body) => {
      body.u32(functionTypes.length);
      for (const type of functionTypes) body.u32(type);
    });
    section(7, (body) => {
      body.u32(this.exports.length);
      for (const [name, index] of this.exports) {
        body.name(name);
        body.byte(0);
        body.u32(index);
      }
    });
    section(10, (body) => {
      body.u32(this.functions.length);
      for (const f of this.functions) f.write(body);
    });
    section(0, (body) => {
      body.name("name");
      const names = new Bytes();
      names.u32(this.functions.length);
      for (const f of this.functions) {
        names.u32(f.index);
        names.name(f.name);
      }
      body.byte(1);
      body.u32(names.length);
      body.append(names.done());
    });
    return out.done().slice();
  }

  private type(params: readonly ValType[], results: readonly ValType[]): number {
    const key = `${params}:${results}`;
    const known = this.types.indexOf(key);
    if (known >= 0) return known;
    this.typeBytes.byte(0x60);
    for (const list of [params, results]) {
      this.typeBytes.u32(list.length);
      for (const type of list) this.typeBytes.byte(VAL_TYPES[type]);
    }
    return this.types.push(key) - 1;
  }
}
