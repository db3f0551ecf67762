// Loads kernel "dot", assembled from dot.wat, for 0..3000, x [3000], y [3000].

// Folds the partial results of chunks: 256 at a time in 8 lanes, level after level.
function $foldPartials(partials, fold, identity) {
  if (partials.length === 0) return identity;
  while (partials.length > 1) {
    const folded = [];
    for (let first = 0; first < partials.length; first += 256) {
      const lanes = new Array(8).fill(identity);
      for (let n = first; n < Math.min(first + 256, partials.length); n++) lanes[n % 8] = fold(lanes[n % 8], partials[n]);
      for (let step = 4; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
      folded.push(lanes[0]);
    }
    partials = folded;
  }
  return partials[0];
}

/*
 * Instantiates the bytes of dot.wasm. Gives { arrays, launch }: the typed arrays in its memory, by name, and the function that runs it
 * on them, and returns { s }.
 */
export async function dot_load(wasm) {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
  const math = { fmod: (a, b) => a % b, exp2: (a) => 2 ** a };
  const { instance } = await WebAssembly.instantiate(wasm, { env: { memory }, Math, math });
  const block = new DataView(memory.buffer, 64);
  block.setUint32(24, 128, true); // scratch
  block.setUint32(0, 192, true); // partials:s
  block.setUint32(8, 320, true); // view:x
  block.setUint32(16, 24320, true); // view:y
  block.setUint32(32, 64, true); // bytes of a worker's scratch memory
  const arrays = {
    x: new Float64Array(memory.buffer, 320, 3000),
    y: new Float64Array(memory.buffer, 24320, 3000),
  };
  const launch = () => {
    instance.exports.run(64, 0, 1);
    return { s: $foldPartials(new Float64Array(memory.buffer, 192, 12), (a, b) => a + b, 0) };
  };
  return { arrays, launch };
}
