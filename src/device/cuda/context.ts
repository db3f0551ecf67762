import type { Handle } from "./calls.js";
import type { Driver } from "./driver.js";

/**
 * The primary context of a GPU. It takes about a tenth of a second, and another thread makes it: a program goes on with what needs no GPU, such
 * as code for its kernels, and waits where it first does.
 */
export class PrimaryContext {
  private handle: Handle | undefined;
  /** The driver keeps the context until each of them was given back. */
  private references = 0;
  private released = false;

  constructor(
    private readonly driver: Driver,
    private readonly device: number,
  ) {
    // Ignores errors here: they come again when somebody waits for it.
    driver
      .callAside("cuDevicePrimaryCtxRetain", new BigUint64Array(1), device)
      .then(() => this.retained())
      .catch(() => undefined);
  }

  /** Waits until it is there. Throws DeviceError if it cannot be made. */
  get(): Handle {
    if (this.handle === undefined) {
      // Waits for the other thread's call, too: the driver makes one context at a time.
      this.handle = this.driver.handle("cuDevicePrimaryCtxRetain", this.device);
      this.references++;
    }
    return this.handle;
  }

  release(): void {
    this.released = true;
    for (; this.references > 0; this.references--) this.driver.call("cuDevicePrimaryCtxRelease_v2", this.device);
  }

  private retained(): void {
    this.references++;
    if (this.released) this.release();
  }
}
