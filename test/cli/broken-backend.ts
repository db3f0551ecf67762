import { registerBackend } from "../../src/backend.js";
import { LOADERS } from "../../src/device/backends.js";

/*
 * A module for `--backend`: devices that compute on js what a wrong driver would. `wrong:0` turns every array that is read into NaN, and
 * `wrong:1` fails once it has come through the self-test.
 */

const js = await LOADERS.js();
let reads = 0;

const { single: _, ...rest } = js;
registerBackend({
  ...rest,
  name: "wrong",
  async probe() {
    const { devices, versions } = await js.probe();
    return { backend: "wrong", versions, devices: [0, 1].map((n) => ({ ...devices[0], name: `wrong:${n}` })) };
  },
  async open(index, options) {
    const device = await js.open(0, options);
    const { queue } = device;
    const read: typeof queue.read = async (view) => {
      const found = await queue.read(view);
      if (index === 1 && ++reads > 6) throw new TypeError("the driver is lost");
      return index === 0 ? ((found as Float64Array).fill(NaN) as typeof found) : found;
    };
    const wrong = new Proxy(queue, {
      get: (target, name) => {
        if (name === "read") return read;
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    return new Proxy(device, {
      get: (target, name) => {
        if (name === "queue") return wrong;
        if (name === "name") return `wrong:${index}`;
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  },
});
