import type { Post, PoolProgram } from "./pool-control.js";

/**
 * Changes to tell the workers. Programs that were added and removed in between are never mentioned, so the list never outgrows the programs
 * in use.
 */
export class News {
  private readonly programs = new Map<number, PoolProgram>();
  private readonly buffers = new Map<number, SharedArrayBuffer | undefined>();
  private readonly released = new Set<number>();
  private memory: WebAssembly.Memory | undefined;

  /** All programs so far are gone. */
  useMemory(memory: WebAssembly.Memory): void {
    this.memory = memory;
    this.programs.clear();
    this.released.clear();
  }
  register(id: number, program: PoolProgram): void {
    this.programs.set(id, program);
  }
  release(id: number): void {
    if (!this.programs.delete(id)) this.released.add(id);
  }
  share(id: number, buffer: SharedArrayBuffer): void {
    this.buffers.set(id, buffer);
  }
  unshare(id: number): void {
    if (!this.buffers.delete(id)) this.buffers.set(id, undefined);
  }

  get size(): number {
    return this.programs.size + this.buffers.size + this.released.size + (this.memory ? 1 : 0);
  }

  /** The news as a message; there are none then. */
  take(): Post {
    const post: Post = { memory: this.memory, programs: [...this.programs], buffers: [...this.buffers], released: [...this.released] };
    for (const told of [this.programs, this.buffers, this.released]) told.clear();
    this.memory = undefined;
    return post;
  }
}
