import assert from "node:assert/strict";
import { test } from "node:test";
import { IsoformError } from "../../../src/base/errors.js";
import { METRICS, errorsIn, readCounters } from "../../../src/portability/counters/log.js";
import { refusalOf } from "../../../src/portability/counters/ncu.js";
import { HEADER, rowsOf } from "./fake-ncu.js";

const COPY = rowsOf(0, "copy_kernel", [
  [METRICS.read, "byte", "1,073,741,824"],
  [METRICS.written, "byte", "536870912"],
  [METRICS.time, "ns", "402,112"],
  [METRICS.l1Hits, "%", "33.33"],
  [METRICS.atomics, "sector", "0"],
  [METRICS.reductions, "sector", "4,096"],
]);
const LOG = `==PROF== Connected to process 7 (/usr/bin/node)
==PROF== Profiling "copy_kernel" - 0: 0%....50%....100% - 2 passes

${HEADER}
${COPY}
${rowsOf(1, 'void scale<"a, b">(double *, int)'.replaceAll('"', '""'), [
  [METRICS.read, "Mbyte", "2.5"],
  [METRICS.written, "Kbyte", "640"],
  [METRICS.time, "usecond", "1.5e+1"],
  [METRICS.l1Hits, "%", "n/a"],
  ["sm__cycles_active.avg", "cycle", "17"],
])}
==PROF== Disconnected from process 7
`;

test("a log gives each launch its counts in bytes, seconds and fractions", () => {
  for (const text of [LOG, LOG.replaceAll("\n", "\r\n")])
    assert.deepEqual(readCounters(text), [
      {
        kernel: "copy_kernel",
        values: { read: 2 ** 30, written: 2 ** 29, time: 402112e-9, l1Hits: 0.3333, atomics: 0, reductions: 4096 },
      },
      { kernel: "scale", values: { read: 2.5e6, written: 640e3, time: 1.5e-5 } },
    ]);
});

test("older logs have other columns in other places", () => {
  const [header, ...rows] = [
    '"ID","Kernel Name","Kernel Time","Section Name","Metric Name","Metric Unit","Metric Value"',
    `"0","k()","now","","${METRICS.written}","byte","0"`,
    `"0","k()","now","","${METRICS.time}","nsecond","8"`,
    `"0","k()","now","","${METRICS.read}","byte","32"`,
  ];
  assert.deepEqual(readCounters([header, ...rows].join("\n")), [{ kernel: "k", values: { read: 32, written: 0, time: 8e-9 } }]);
});

test("a log without a table has no launches", () => {
  assert.deepEqual(readCounters("==PROF== Connected\n==WARNING== No kernels were profiled.\n"), []);
  assert.deepEqual(readCounters(""), []);
  assert.deepEqual(readCounters(`${HEADER}\n`), []);
});

const line = (n: number): string => LOG.split("\n")[n];
const MALFORMED: readonly (readonly [what: string, text: string, message: RegExp])[] = [
  ["a missing column", LOG.replace('"Metric Unit",', ""), /line 4: the table has no column "Metric Unit", but ID, Process ID/],
  ["a row with fewer fields", LOG.replace(line(5), line(5).replace('"byte",', "")), /line 6: 14 fields, and the table has 15 columns/],
  ["a row that is cut off", LOG.slice(0, LOG.indexOf('"536870912"') + 4), /line 6: it is cut off, or not in quotes: "536/],
  ["words between the rows", LOG.replace(line(5), `hello\n${line(5)}`), /line 6: it is cut off, or not in quotes: hello/],
  ["a decimal comma", LOG.replace('"33.33"', '"33,33"'), /line 8: "33,33" is not a number/],
  ["a wrong separator", LOG.replace('"402,112"', '"402.112,5"'), /line 7: "402\.112,5" is not a number/],
  ["a negative count", LOG.replace('"4,096"', '"-4"'), /line 10: "-4" is not a number/],
  ["an unknown unit", LOG.replace('"Kbyte"', '"Kibyte"'), /line 12: unknown unit "Kibyte"/],
  ["a unit that every object has", LOG.replace('"Kbyte"', '"toString"'), /unknown unit "toString"/],
  ["a metric twice", LOG.replace(line(5), `${line(5)}\n${line(5)}`), /line 7: launch 0 has dram__bytes_write\.sum twice/],
  ["a missing metric", LOG.replace(`${line(5)}\n`, ""), /launch 0, copy_kernel, has no dram__bytes_write\.sum/],
  ["a needed metric that is absent", LOG.replace('"536870912"', '"n/a"'), /launch 0, copy_kernel, has no dram__bytes_write\.sum/],
  ["two kernels in a launch", LOG.replace(line(5), line(5).replace("copy_kernel", "other")), /line 6: launch 0 is "other", and was "copy/],
];

for (const [what, text, message] of MALFORMED)
  test(`a log with ${what} is refused with its line`, () => {
    assert.notEqual(text, LOG);
    assert.throws(
      () => readCounters(text),
      (error) => error instanceof IsoformError && message.test(error.message),
    );
  });

test("failures of ncu are refused with cause and remedy", () => {
  const permission =
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0. For instructions on enabling permissions and to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM";
  assert.equal(errorsIn(`==PROF== Connected\n${permission}\n`).length, 1);
  const refused: readonly (readonly [string, RegExp])[] = [
    [permission, /^--counters: hardware counters are barred here \(ncu: ERR_NVGPUCTRPERM.*\): run as root .*, or leave --counters out$/],
    [
      "==ERROR== Failed to initialize the profiler: LibraryNotLoaded",
      /ncu cannot start its profiler here, .*LibraryNotLoaded\): run it on the/,
    ],
    ["==ERROR== Failed to find metric lts__t_sectors_op_red.sum", /lacks a metric \(ncu: .*\): install a newer Nsight Compute/],
    ["==ERROR== The moon is full", /ncu failed \(ncu: The moon is full\): see what it says, or leave --counters out/],
  ];
  for (const [text, message] of refused) assert.match(refusalOf(`==PROF== Connected\n${text}\n`)!.message, message);
  assert.equal(refusalOf(LOG), undefined);
});
