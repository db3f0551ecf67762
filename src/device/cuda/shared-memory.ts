import { DeviceError } from "../../base/errors.js";
import type { Handle } from "./calls.js";
import type { CudaGpu } from "./gpu.js";

/** Bytes of CUipcMemHandle, which is passed by value. */
const HANDLE_BYTES = 64;
/** CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS. */
const REACH_PEERS = 1;

/** Memory of a GPU that other processes of its node may use: CUDA's IPC. Handles are bytes that go from process to process. */
export class SharedMemory {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  private readonly functions: Readonly<Record<string, (...args: any[]) => number>>;

  /** @throws Error where the driver's library lacks a function */
  constructor(private readonly gpu: CudaGpu) {
    const { koffi, library } = gpu.driver;
    const handle = koffi.struct({ bytes: koffi.array("uint8_t", HANDLE_BYTES, "Typed") });
    this.functions = {
      cuIpcGetMemHandle: library.handle.func("cuIpcGetMemHandle", "int", ["void *", "uint64_t"]),
      cuIpcOpenMemHandle_v2: library.handle.func("cuIpcOpenMemHandle_v2", "int", ["void *", handle, "uint32_t"]),
      cuIpcCloseMemHandle: library.handle.func("cuIpcCloseMemHandle", "int", ["uint64_t"]),
    };
  }

  /**
   * The handle of memory of this GPU, by the address at which it was allocated.
   * @throws DeviceError where it cannot be shared
   */
  share(address: Handle): Uint8Array {
    const handle = new Uint8Array(HANDLE_BYTES);
    this.call("cuIpcGetMemHandle", handle, address);
    return handle;
  }

  /**
   * The address here of memory that another process has shared.
   * @throws DeviceError where this process or GPU does not reach it
   */
  open(handle: Uint8Array): Handle {
    const address = new BigUint64Array(1);
    this.call("cuIpcOpenMemHandle_v2", address, { bytes: handle }, REACH_PEERS);
    return Number(address[0]);
  }

  /** Gives up memory of another process. */
  close(address: Handle): void {
    this.call("cuIpcCloseMemHandle", address);
  }

  private call(name: string, ...args: unknown[]): void {
    this.gpu.enter();
    const status = this.functions[name](...args);
    if (status !== 0) throw new DeviceError(this.gpu.name, `${name} failed with status ${status}`);
  }
}
