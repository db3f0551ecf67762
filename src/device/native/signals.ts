import type { Kernel } from "../../kernel/declare/kernel.js";
import { compileLibrary, type Compiler } from "./compiler.js";
import type { NativeEntry, Loader } from "./library.js";

/*
 * Reports the kernel that ended the process: an unchecked kernel may touch memory outside its arrays. A handler of the signal names the kernel, and
 * the way to find the index; then the signal takes its course. Signals of other code go to the previous handler: engines have one for
 * traps of WebAssembly.
 */

export const SIGNALS_FUNCTION = "isoform_note_kernel";

export const SIGNALS_SOURCE = `// Says which kernel a signal came from, written by isoform.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* Code of one library, and what is told of it. */
struct code { uintptr_t begin, end; const char *text; };

enum { MOST = 4096 };
static struct code known[MOST];
static int count;
static struct sigaction before[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t place(void *context)
{
  const ucontext_t *u = context;
#if defined(__x86_64__)
  return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)u->uc_mcontext.pc;
#else
  return 0;
#endif
}

static void handle(int number, siginfo_t *info, void *context)
{
  const uintptr_t at = place(context);
  const struct sigaction *other = &before[number == SIGBUS];
  for (int n = 0; n < __atomic_load_n(&count, __ATOMIC_ACQUIRE); n++) {
    if (at < known[n].begin || at >= known[n].end) continue;
    if (write(2, known[n].text, strlen(known[n].text)) < 0) {}
    /* The instruction runs again, and ends the process. */
    signal(number, SIG_DFL);
    return;
  }
  if (other->sa_flags & SA_SIGINFO) other->sa_sigaction(number, info, context);
  else if (other->sa_handler == SIG_DFL || other->sa_handler == SIG_IGN) signal(number, other->sa_handler);
  else other->sa_handler(number);
}

struct wanted { uintptr_t begin, end; };

static int find(struct dl_phdr_info *info, size_t size, void *wanted)
{
  struct wanted *w = wanted;
  for (int n = 0; n < info->dlpi_phnum; n++) {
    const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr, end = begin + info->dlpi_phdr[n].p_memsz;
    if (info->dlpi_phdr[n].p_type != PT_LOAD || w->begin < begin || w->begin >= end) continue;
    *w = (struct wanted){begin, end};
    return 1;
  }
  return 0;
}

/* The address of the kernel's function, and its line of text. */
struct note { uintptr_t function; char text[]; };

void ${SIGNALS_FUNCTION}(const struct note *note)
{
  struct wanted w = {note->function, 0};
  if (!dl_iterate_phdr(find, &w)) return;
  pthread_mutex_lock(&lock);
  int n = 0;
  while (n < count && known[n].begin != w.begin) n++;
  if (n == count && n < MOST) {
    if (n == 0) {
      struct sigaction own = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
      sigfillset(&own.sa_mask);
      sigaction(SIGSEGV, &own, &before[0]);
      sigaction(SIGBUS, &own, &before[1]);
    }
    known[n] = (struct code){w.begin, w.end, strdup(note->text)};
    __atomic_store_n(&count, n + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}
`;

const noted = new Set<bigint>();

/** Has a signal in the kernel's code name it; on Linux. */
export function nameInSignals(compiler: Compiler, loader: Loader, { name, location }: Kernel, { address }: NativeEntry): void {
  if (process.platform !== "linux" || noted.has(address)) return;
  noted.add(address);
  const note = loader.entry(compileLibrary(compiler, "signals", SIGNALS_SOURCE, "strict", loader.test(SIGNALS_FUNCTION)), SIGNALS_FUNCTION);
  const what = `kernel ${JSON.stringify(name)} (${location.file.split("/").at(-1)}:${location.line})`;
  const text = `isoform: ${what} on native accessed memory outside of its arrays; run it with checked: true or ISOFORM_CHECKED=1\n`;
  const line = Buffer.from(`${text}\0`);
  const struct = new Uint8Array(8 + line.length);
  new BigUint64Array(struct.buffer, 0, 1)[0] = address;
  struct.set(line, 8);
  note.call(loader.address(struct.buffer));
}
