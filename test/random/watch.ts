import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

/*
 * A thread that ends the whole process, after `workerData` seconds without a message, with the last message on stderr. It is a thread of
 * its own because a device's driver may block the main one for as long as a kernel runs.
 */
const seconds = workerData as number;
let timer: NodeJS.Timeout | undefined;
parentPort!.on("message", (task: string) => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    writeSync(2, `no end within ${seconds} seconds: ${task}\n`);
    process.kill(process.pid, "SIGKILL");
  }, seconds * 1000);
});
