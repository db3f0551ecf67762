import type { Profile } from "./profile.js";

/** Rows of the program's own process. */
const [REGIONS, WAITS] = [0, 1];

/**
 * For chrome://tracing and Perfetto: the program with its regions and waits, then a process for each device with a row for each queue. What
 * was not sampled is not there. Times are in microseconds. The profiler must have been started with `trace`.
 */
export function profileTrace({ spans, devices }: Profile): string {
  const name = (what: "process_name" | "thread_name", words: string, pid: number, tid?: number) => ({
    name: what,
    ph: "M",
    pid,
    tid,
    args: { name: words },
  });
  const processOf = new Map(devices.map(({ name }, n) => [name, n + 1]));
  const traceEvents = [
    name("process_name", "program", 0),
    name("thread_name", "regions", 0, REGIONS),
    name("thread_name", "waits", 0, WAITS),
    ...devices.map(({ name: device, label }) => name("process_name", `${device}: ${label}`, processOf.get(device)!)),
    ...spans.map(({ kind, label, device, queue, begin, seconds, bytes, flops }) => ({
      name: kind === "fence" ? `${label} ${device}` : label,
      cat: kind,
      ph: "X",
      ...trackOf(kind, processOf.get(device ?? "") ?? 0, queue),
      ts: begin * 1e6,
      dur: seconds * 1e6,
      args: bytes > 0 ? { bytes, flops, "GB/s": bytes / seconds / 1e9, "GFLOP/s": flops / seconds / 1e9 } : {},
    })),
  ];
  return JSON.stringify({ traceEvents, displayTimeUnit: "ns" });
}

function trackOf(kind: Profile["spans"][number]["kind"], pid: number, tid: number): { pid: number; tid: number } {
  if (kind === "region") return { pid: 0, tid: REGIONS };
  return kind === "fence" ? { pid: 0, tid: WAITS } : { pid, tid };
}
