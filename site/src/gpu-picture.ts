import { DeviceError, type Device, type View } from "isoform";
import { encode, nativeBuffer, nativeDevice } from "isoform/webgpu";
import type { Look, Picture } from "./look.js";

/** One triangle covers the canvas; each pixel looks up the value of its cell, and that value's colour. */
const SHADER = `
struct Look { first: u32, row: u32, zero: f32, scale: f32 }
@group(0) @binding(0) var<uniform> look: Look;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> colours: array<u32>;

@vertex fn corner(@builtin(vertex_index) n: u32) -> @builtin(position) vec4f {
  return vec4f(f32(4 * (n & 1)) - 1, f32(4 * (n >> 1)) - 1, 0, 1);
}

@fragment fn pixel(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let value = look.zero + look.scale * values[look.first + u32(at.y) * look.row + u32(at.x)];
  return unpack4x8unorm(colours[u32(clamp(value, 0, f32(arrayLength(&colours) - 1)))]);
}
`;

/** A picture that a shader draws from where the field lies. Throws DeviceError if the canvas gives no context for WebGPU. */
export function gpuPicture(canvas: HTMLCanvasElement, device: Device, look: Look): Picture {
  // Values of one layer lie in rows, whatever the number of axes.
  const { grid, values, zero, scale, colours } = look as Look<2>;
  const gpu = nativeDevice(device);
  const context = canvas.getContext("webgpu");
  if (!context) throw new DeviceError(device.name, "the browser draws on no canvas with it");
  const format = navigator.gpu.getPreferredCanvasFormat();
  context.configure({ device: gpu, format, alphaMode: "opaque" });
  const module = gpu.createShaderModule({ code: SHADER });
  const pipeline = gpu.createRenderPipeline({
    layout: "auto",
    vertex: { module },
    fragment: { module, targets: [{ format }] },
  });
  const palette = filled(gpu, GPUBufferUsage.STORAGE, Int32Array.from(colours));
  /** Swapped fields have several buffers. */
  const bindings = new WeakMap<GPUBuffer, GPUBindGroup>();

  const bind = (view: View, buffer: GPUBuffer): GPUBindGroup => {
    const look = new ArrayBuffer(16);
    new Uint32Array(look).set([view.offset, view.strides.at(-2)!]);
    new Float32Array(look).set([zero, scale], 2);
    const buffers = [filled(gpu, GPUBufferUsage.UNIFORM, new Uint8Array(look)), buffer, palette];
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    return gpu.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  };
  return {
    async paint() {
      const view = grid.window(values);
      const buffer = nativeBuffer(view);
      const bound = bindings.get(buffer) ?? bind(view, buffer);
      bindings.set(buffer, bound);
      encode(device, (encoder) => {
        const target = { view: context.getCurrentTexture().createView(), loadOp: "clear", storeOp: "store" } as const;
        const pass = encoder.beginRenderPass({ colorAttachments: [target] });
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, bound);
        pass.draw(3);
        pass.end();
      });
      await device.queue.finish();
    },
    free: () => palette.destroy(),
  };
}

function filled(gpu: GPUDevice, usage: number, data: Int32Array | Uint8Array): GPUBuffer {
  const buffer = gpu.createBuffer({ size: data.byteLength, usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(new Uint8Array(data.buffer));
  buffer.unmap();
  return buffer;
}
