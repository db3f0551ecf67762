/** How a kernel's parameter lies in the parameter buffer. */
export type ParamType = "pointer" | "f64" | "f32" | "i32" | "u32" | "i64" | "bool";

export interface KernelParam {
  readonly name: string;
  readonly type: ParamType;
}

const SIZE: Record<ParamType, number> = { pointer: 8, f64: 8, i64: 8, f32: 4, i32: 4, u32: 4, bool: 1 };

/** The values of `params` as the driver takes them: in order, each aligned to its size. */
export function packParams(params: readonly KernelParam[], values: ReadonlyMap<string, number | bigint | boolean>): ArrayBuffer {
  const offsets: number[] = [];
  let end = 0;
  for (const { type } of params) {
    const size = SIZE[type];
    const offset = Math.ceil(end / size) * size;
    offsets.push(offset);
    end = offset + size;
  }
  // Small typed arrays move with the garbage collector; the memory of an ArrayBuffer does not.
  const buffer = new ArrayBuffer(Math.max(end, 1));
  const data = new DataView(buffer);
  params.forEach(({ name, type }, n) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`no value for kernel parameter "${name}"`);
    write(data, offsets[n], type, value);
  });
  return buffer;
}

function write(data: DataView, offset: number, type: ParamType, value: number | bigint | boolean): void {
  const number = Number(value);
  switch (type) {
    case "pointer": return data.setBigUint64(offset, BigInt(value), true);
    case "i64": return data.setBigInt64(offset, BigInt(value), true);
    case "f64": return data.setFloat64(offset, number, true);
    case "f32": return data.setFloat32(offset, number, true);
    case "i32": return data.setInt32(offset, number, true);
    case "u32": return data.setUint32(offset, number, true);
    case "bool": return data.setUint8(offset, number ? 1 : 0);
  }
}
