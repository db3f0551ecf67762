/** The classes of typed arrays, by the type of their elements. */
export const ARRAY = { f64: "Float64Array", f32: "Float32Array", i32: "Int32Array", u32: "Uint32Array", u8: "Uint8Array" } as const;
