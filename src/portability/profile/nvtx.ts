import type { CopyEvent, FenceEvent, KernelEvent, RegionEvent, Tool } from "../../device/tools/tools.js";
import { loadKoffi, openLibrary } from "../../device/ffi.js";

const NAMES = ["libnvToolsExt.so.1", "libnvToolsExt.so"];
const FILES = ["/usr/local/cuda/lib64/libnvToolsExt.so.1"];

/** NVIDIA's Tools Extension, if it was found. */
export interface Nvtx {
  /** Gives regions, launches, copies and waits to NVIDIA's tools as ranges of the calling thread; undefined if NVTX is not installed. */
  readonly tool?: Tool;
  /** Why it is not, and what to do. */
  readonly missing?: string;
}

/**
 * The NVIDIA Tools Extension, for the timelines of Nsight Systems. `ISOFORM_NVTX` names its library and is then the only place looked at.
 */
export async function nvtx(): Promise<Nvtx> {
  const koffi = await loadKoffi();
  if (!koffi) return { missing: "NVTX: the package koffi, which calls its library, does not load (npm install koffi)" };
  const named = process.env.ISOFORM_NVTX;
  const library = named ? openLibrary(koffi, [], [named]) : openLibrary(koffi, NAMES, FILES);
  if (!library)
    return {
      missing: named
        ? `NVTX: the library ${named}, which ISOFORM_NVTX names, does not load`
        : `NVTX: ${NAMES[0]} is not on the loader's path (it comes with CUDA toolkits before 13; name its file in ISOFORM_NVTX)`,
    };
  const { handle } = library;
  try {
    return {
      tool: rangeTool({
        start: handle.func("nvtxRangeStartA", "uint64_t", ["str"]) as unknown as Ranges["start"],
        end: handle.func("nvtxRangeEnd", "void", ["uint64_t"]) as unknown as Ranges["end"],
      }),
    };
  } catch (error) {
    return { missing: `NVTX: ${library.path} is another library: ${(error as Error).message}` };
  }
}

/** Ranges that need not nest: waits and regions of asynchronous programs may end in any order. */
interface Ranges {
  start(name: string): number | bigint;
  end(range: number | bigint): void;
}

function rangeTool({ start, end }: Ranges): Tool {
  const open = new Map<object, number | bigint>();
  const begin = (event: object, name: string): void => void open.set(event, start(name));
  const finish = (event: object): void => {
    const range = open.get(event);
    if (range !== undefined) end(range);
    open.delete(event);
  };
  return {
    beginKernel: (event: KernelEvent) => begin(event, `${event.label} on ${event.queue.device.name}`),
    endKernel: finish,
    beginCopy: (event: CopyEvent) => begin(event, `${event.kind} ${event.from} to ${event.to}, ${event.bytes} bytes`),
    endCopy: finish,
    beginFence: (event: FenceEvent) => begin(event, `wait: ${event.kind} of ${event.device.name}`),
    endFence: finish,
    beginRegion: (event: RegionEvent) => begin(event, event.name),
    endRegion: finish,
  };
}
