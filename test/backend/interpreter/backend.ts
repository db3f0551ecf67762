import { registerBackend, type Backend } from "isoform/backend";
import { CAPABILITIES, InterpreterDevice, LABEL } from "./device.js";

/** A backend that walks over the code of a kernel: slow, small, and made of what the package exports. */
export const interpreter: Backend = {
  name: "interpreter",
  single: true,
  async probe() {
    return { backend: "interpreter", devices: [{ name: "interpreter", label: LABEL, capabilities: CAPABILITIES }], versions: {} };
  },
  async open() {
    return new InterpreterDevice();
  },
};

registerBackend(interpreter);
