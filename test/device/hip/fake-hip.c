/* A stand-in for AMD's libamdhip64 and libhiprtc, on the CPU. Memory of a device is memory of the host, kernels are compiled by the
   system's C++ compiler and run there. It checks what it is given: handles and memory that live, sizes, the order of streams. What is
   wrong is answered with an error and noted for fake_complaints(). Work of streams waits until someone waits for it, or has looked a few times, and
   then runs stream by stream, the youngest first, so that a missing event shows. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_HANDLE = 400, NOT_FOUND = 500,
  NOT_READY = 600, LAUNCH_FAILURE = 719, PEER_ALREADY = 704, PEER_UNSUPPORTED = 217,
  CAPTURE_UNJOINED = 904, CAPTURE_IMPLICIT = 906, CAPTURED_EVENT = 907, COMPILATION = 6
};
enum { DEVICES = 2, MEMORY = 1 << 30, SHARED = 64 << 10, MOST_ARGUMENTS = 4096 };

typedef uint64_t Handle;

/* What is told to the test. */

static char *log_text, *complaint_text;
static size_t log_length, complaint_length;

static void append(char **text, size_t *length, const char *format, va_list args) {
  char line[8192];
  const int size = vsnprintf(line, sizeof line, format, args);
  *text = realloc(*text, *length + size + 2);
  memcpy(*text + *length, line, size + 1);
  *length += size;
  strcpy(*text + (*length)++, "\n");
}
static void note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(&log_text, &log_length, format, args);
  va_end(args);
}
static int complain(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(&complaint_text, &complaint_length, format, args);
  va_end(args);
  return status;
}

/* What the test asks for. */

static int devices = DEVICES, wave = 64, peers = 1, fail_status, fail_after;
static char fail_name[64];

void fake_devices(int count) { devices = count; }
void fake_wavefront(int threads) { wave = threads; }
void fake_peers(int reached) { peers = reached; }
/* Lets the call with this name fail, after so many that do not. */
void fake_fail(const char *name, int status, int after) {
  snprintf(fail_name, sizeof fail_name, "%s", name);
  fail_status = status;
  fail_after = after;
}
const char *fake_log(void) { return log_text ? log_text : ""; }
const char *fake_complaints(void) { return complaint_text ? complaint_text : ""; }
void fake_forget(void) {
  log_length = complaint_length = 0;
  if (log_text) log_text[0] = 0;
  if (complaint_text) complaint_text[0] = 0;
}

/* Every call is noted here first; it may be one that is to fail. */
static int enter(const char *name, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  note("%s(%s)", name, text);
  if (strcmp(name, fail_name) != 0 || fail_after-- > 0) return SUCCESS;
  fail_name[0] = 0;
  return fail_status;
}
#define ENTER(...)                                      \
  do {                                                  \
    const int status_ = enter(__func__, __VA_ARGS__);   \
    if (status_) return status_;                        \
  } while (0)

/* Devices and their memory. */

typedef struct Piece {
  char *first;
  size_t bytes;
  int device; /* -1: pinned memory of the host */
  bool live;
  struct Piece *next;
} Piece;

static Piece *pieces;
static size_t taken[DEVICES];
static int current;
static bool initialised, reached[DEVICES][DEVICES];

static Piece *piece_at(const void *pointer) {
  for (Piece *piece = pieces; piece; piece = piece->next)
    if ((char *)pointer >= piece->first && (char *)pointer < piece->first + piece->bytes) return piece;
  return NULL;
}
/* True where the bytes lie in one live piece: of a device where `host` is false, pinned where it is true. */
static bool holds(Handle pointer, size_t bytes, bool host) {
  const Piece *piece = piece_at((void *)pointer);
  return piece && piece->live && (piece->device < 0) == host && (char *)pointer + bytes <= piece->first + piece->bytes;
}

static void drain(void);

int hipInit(unsigned flags) {
  ENTER("%u", flags);
  if (devices == 0) return NO_DEVICE;
  initialised = true;
  return SUCCESS;
}
int hipRuntimeGetVersion(int *version) {
  *version = 60242133;
  return SUCCESS;
}
int hipGetDeviceCount(int *count) {
  *count = devices;
  return initialised ? SUCCESS : complain(INVALID_VALUE, "hipGetDeviceCount before hipInit");
}
int hipDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal < devices ? SUCCESS : INVALID_DEVICE;
}
int hipDeviceGetName(char *name, int length, int device) {
  snprintf(name, length, "Fake Instinct %d", device);
  return SUCCESS;
}
int hipDeviceTotalMem(size_t *bytes, int device) {
  *bytes = MEMORY;
  return device < devices ? SUCCESS : INVALID_DEVICE;
}
int hipDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 63: *value = 4; break;         /* multiprocessors */
    case 60: *value = 1600000; break;   /* clock of the memory in kHz */
    case 59: *value = 4096; break;      /* its width in bits */
    case 19: *value = 8 << 20; break;   /* bytes of the last cache */
    case 74: *value = SHARED; break;    /* of a block's memory */
    case 57: *value = 2048; break;      /* threads that a multiprocessor holds */
    default: return complain(INVALID_VALUE, "an attribute that is not asked for here: %d", attribute);
  }
  return device < devices ? SUCCESS : INVALID_DEVICE;
}
int hipGetDevicePropertiesR0600(char *properties, int device) {
  snprintf(properties, 256, "Fake Instinct %d", device);
  strcpy(properties + 1160, "gfx90a:sramecc+:xnack-");
  return SUCCESS;
}
int hipSetDevice(int device) {
  ENTER("%d", device);
  if (device < 0 || device >= devices) return complain(INVALID_DEVICE, "hipSetDevice(%d)", device);
  current = device;
  return SUCCESS;
}
int hipDeviceSynchronize(void) {
  ENTER("%s", "");
  drain();
  return SUCCESS;
}
int hipDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = peers && device != peer;
  return SUCCESS;
}
int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  ENTER("%d, %u", peer, flags);
  if (!peers || peer == current) return PEER_UNSUPPORTED;
  if (reached[current][peer]) return PEER_ALREADY;
  reached[current][peer] = true;
  return SUCCESS;
}
const char *hipGetErrorName(int status) {
  switch (status) {
    case OUT_OF_MEMORY: return "hipErrorOutOfMemory";
    case NO_DEVICE: return "hipErrorNoDevice";
    case LAUNCH_FAILURE: return "hipErrorLaunchFailure";
    case CAPTURE_UNJOINED: return "hipErrorStreamCaptureUnjoined";
    case CAPTURE_IMPLICIT: return "hipErrorStreamCaptureImplicit";
    default: return "hipErrorUnknown";
  }
}
const char *hipGetErrorString(int status) { return status == OUT_OF_MEMORY ? "out of memory" : "words for it"; }

static void *new_piece(size_t bytes, int device) {
  Piece *piece = malloc(sizeof *piece);
  *piece = (Piece){NULL, bytes, device, true, pieces};
  piece->first = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  /* New memory holds anything. */
  memset(piece->first, 0xa5, bytes < 1 << 20 ? bytes : 1 << 20);
  pieces = piece;
  return piece->first;
}
static int free_piece(const char *call, Handle pointer, bool host) {
  Piece *piece = piece_at((void *)pointer);
  if (!piece || !piece->live || piece->first != (char *)pointer || (piece->device < 0) != host)
    return complain(INVALID_VALUE, "%s of what is no live piece of memory", call);
  drain();
  piece->live = false;
  if (!host) taken[piece->device] -= piece->bytes;
  /* The address is not given out again. */
  mprotect(piece->first, piece->bytes, PROT_NONE);
  madvise(piece->first, piece->bytes, MADV_DONTNEED);
  return SUCCESS;
}
int hipMemGetInfo(size_t *left, size_t *total) {
  *left = MEMORY - taken[current];
  *total = MEMORY;
  return SUCCESS;
}
int hipMalloc(Handle *pointer, size_t bytes) {
  ENTER("%zu", bytes);
  if (bytes == 0) return complain(INVALID_VALUE, "hipMalloc of nothing");
  if (taken[current] + bytes > MEMORY) return OUT_OF_MEMORY;
  taken[current] += bytes;
  *pointer = (Handle)new_piece(bytes, current);
  return SUCCESS;
}
int hipFree(Handle pointer) {
  ENTER("%s", "");
  return free_piece("hipFree", pointer, false);
}
int hipHostMalloc(Handle *pointer, size_t bytes, unsigned flags) {
  ENTER("%zu, %u", bytes, flags);
  *pointer = (Handle)new_piece(bytes, -1);
  return SUCCESS;
}
int hipHostFree(Handle pointer) {
  ENTER("%s", "");
  return free_piece("hipHostFree", pointer, true);
}

/* Modules and functions. */

typedef size_t (*Bytes)(void);
typedef void (*Known)(const void *pointer, char *text, size_t room);
typedef void (*Shown)(const char *params, char *text, size_t room, Known known);
typedef bool (*Run)(const char *params, const unsigned *shape, unsigned wave, double *shared, char *stacks);

typedef struct { bool live; void *library; } Module;
typedef struct {
  Module *module;
  char name[200];
  unsigned most;
  Bytes bytes;
  Shown shown;
  Run run;
} Function;

static bool write_file(const char *path, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  if (!file) return false;
  const bool written = fwrite(data, 1, bytes, file) == bytes;
  return fclose(file) == 0 && written;
}

/* Machine code begins with its length. */
int hipModuleLoadData(Handle *module, const char *image) {
  ENTER("%s", "");
  uint64_t bytes;
  memcpy(&bytes, image, sizeof bytes);
  char path[512];
  static int number;
  snprintf(path, sizeof path, FAKE_FOLDER "/module-%d.so", number++);
  if (!write_file(path, image + sizeof bytes, bytes)) return complain(INVALID_VALUE, "no room for %s", path);
  Module *loaded = malloc(sizeof *loaded);
  *loaded = (Module){true, dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  unlink(path);
  if (!loaded->library) return complain(INVALID_VALUE, "%s", dlerror());
  *module = (Handle)loaded;
  return SUCCESS;
}
int hipModuleUnload(Handle handle) {
  ENTER("%s", "");
  Module *module = (Module *)handle;
  if (!module->live) return complain(INVALID_HANDLE, "hipModuleUnload twice");
  module->live = false;
  return SUCCESS;
}
int hipModuleGetFunction(Handle *function, Handle handle, const char *name) {
  ENTER("%s", name);
  Module *module = (Module *)handle;
  char part[256];
#define PART(suffix) (snprintf(part, sizeof part, "%s_" suffix, name), dlsym(module->library, part))
  const unsigned *most = PART("most");
  if (!module->live || !most) return NOT_FOUND;
  Function *made = malloc(sizeof *made);
  *made = (Function){module, "", *most, (Bytes)PART("bytes"), (Shown)PART("shown"), (Run)PART("run")};
  snprintf(made->name, sizeof made->name, "%s", name);
  *function = (Handle)made;
  return SUCCESS;
}
int hipFuncGetAttribute(int *value, int attribute, Handle function) {
  (void)function;
  *value = attribute == 4 ? 32 : 0;
  return attribute == 1 || attribute == 3 || attribute == 4 ? SUCCESS : complain(INVALID_VALUE, "function attribute %d", attribute);
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Handle function, int threads, size_t shared) {
  (void)function;
  *blocks = shared > SHARED ? 0 : 2048 / threads;
  return SUCCESS;
}

/* Streams: lists of what is to be done. A capturing one notes it in a graph. */

typedef struct Event Event;
typedef struct Stream Stream;
typedef struct Graph Graph;
typedef struct Work {
  enum { LAUNCH, COPY, FILL, RECORD, WAIT, GRAPH } kind;
  const Function *function;
  char *params;
  unsigned shape[6], shared;
  Handle target, source;
  size_t bytes;
  int value;
  Event *event;
  unsigned mark;
  Graph *graph;
  struct Work *next;
} Work;
struct Event { bool live, timed; unsigned asked, done; Stream *stream; Graph *graph; unsigned at; double time; };
struct Stream { bool live; int device; Work *first, *last; Graph *graph; bool joined; unsigned length; Stream *older; };
struct Graph { bool live; Work *first, *last; unsigned nodes; Stream *origin; };

static Stream *streams;
static int captures;
static double clock_milliseconds;

static char *stacks(void) {
  static char *memory;
  if (!memory) memory = mmap(NULL, 1024ul << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory;
}

static void known(const void *pointer, char *text, size_t room) {
  if (!pointer) {
    snprintf(text, room, "null");
    return;
  }
  const Piece *piece = piece_at(pointer);
  if (piece && piece->live) snprintf(text, room, "[%zu bytes]", (size_t)(piece->first + piece->bytes - (char *)pointer));
  else complain(0, "a kernel was given a pointer to no live memory"), snprintf(text, room, "[lost]");
}

static void perform(Work *work) {
  static double shared[SHARED / 8];
  switch (work->kind) {
    case LAUNCH: {
      if (!work->function->module->live) complain(0, "%s runs after its module was unloaded", work->function->name);
      if (!work->function->run(work->params, work->shape, wave, shared, stacks()))
        complain(0, "threads of %s wait at a barrier that others never reach", work->function->name);
      break;
    }
    case COPY:
      if (!(holds(work->target, work->bytes, false) || holds(work->target, work->bytes, true)) ||
          !(holds(work->source, work->bytes, false) || holds(work->source, work->bytes, true)))
        complain(0, "a copy runs whose memory was freed");
      else memmove((void *)work->target, (void *)work->source, work->bytes);
      break;
    case FILL:
      if (!holds(work->target, work->bytes, false)) complain(0, "a fill runs whose memory was freed");
      else memset((void *)work->target, work->value, work->bytes);
      break;
    case RECORD:
      work->event->done = work->mark;
      work->event->time = clock_milliseconds;
      break;
    case WAIT: break;
    case GRAPH:
      for (Work *inner = work->graph->first; inner; inner = inner->next) perform(inner);
      break;
  }
  clock_milliseconds += 0.001;
}

/* True where who asks for work that is under way gets to hear so; by and by it is done. */
static bool still_pending(bool pending) {
  static int looks;
  return pending && ++looks % 4 != 0;
}

static bool ready(const Work *work) { return work->kind != WAIT || work->event->done >= work->mark; }

static void drain(void) {
  for (bool moved = true; moved;) {
    moved = false;
    for (Stream *stream = streams; stream; stream = stream->older)
      while (stream->first && ready(stream->first)) {
        Work *work = stream->first;
        stream->first = work->next;
        perform(work);
        moved = true;
      }
  }
  for (Stream *stream = streams; stream; stream = stream->older)
    if (stream->first) complain(0, "a stream waits for an event that never comes");
}

/* Streams that work is given to: 0 is that of the device, in order with all others. */
static int give(Handle handle, Work work) {
  Work *kept = malloc(sizeof *kept);
  *kept = work;
  kept->next = NULL;
  if (handle == 0) {
    if (captures > 0) return CAPTURE_IMPLICIT;
    drain();
    perform(kept);
    return SUCCESS;
  }
  Stream *stream = (Stream *)handle;
  if (!stream->live) return complain(INVALID_HANDLE, "work for a stream that was destroyed");
  if (!stream->graph && stream->device != current && work.kind == LAUNCH)
    return complain(INVALID_HANDLE, "a launch on a stream of device %d while %d is current", stream->device, current);
  stream->length++;
  stream->joined = false;
  if (stream->graph) {
    Graph *graph = stream->graph;
    if (work.kind == RECORD || work.kind == WAIT) return SUCCESS;
    graph->nodes++;
    if (graph->last) graph->last->next = kept;
    else graph->first = kept;
    graph->last = kept;
    return SUCCESS;
  }
  if (stream->first) stream->last->next = kept;
  else stream->first = kept;
  stream->last = kept;
  return SUCCESS;
}

static int makeStream(Handle *stream, unsigned flags) {
  Stream *made = calloc(1, sizeof *made);
  *made = (Stream){.live = true, .device = current, .older = streams};
  streams = made;
  *stream = (Handle)made;
  return flags == 0 ? SUCCESS : complain(INVALID_VALUE, "a stream out of order with that of the device");
}

int hipStreamCreateWithFlags(Handle *stream, unsigned flags) {
  ENTER("%u", flags);
  return makeStream(stream, flags);
}

/** As on AMD's GPUs: from low, 1, to high, -1. */
int hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  ENTER("%s", "");
  *least = 1;
  *greatest = -1;
  return SUCCESS;
}
int hipStreamCreateWithPriority(Handle *stream, unsigned flags, int priority) {
  ENTER("%u, %d", flags, priority);
  if (priority < -1 || priority > 1) return complain(INVALID_VALUE, "a priority out of range");
  return makeStream(stream, flags);
}
int hipStreamDestroy(Handle handle) {
  ENTER("%s", "");
  Stream *stream = (Stream *)handle;
  if (!stream->live) return complain(INVALID_HANDLE, "hipStreamDestroy twice");
  drain();
  stream->live = false;
  return SUCCESS;
}
int hipStreamQuery(Handle handle) {
  ENTER("%s", "");
  const Stream *stream = (Stream *)handle;
  if (!stream->live) return complain(INVALID_HANDLE, "hipStreamQuery of a stream that was destroyed");
  const bool pending = stream->first != NULL;
  if (still_pending(pending)) return NOT_READY;
  drain();
  return pending ? NOT_READY : SUCCESS;
}
int hipStreamSynchronize(Handle handle) {
  ENTER("%s", "");
  (void)handle;
  drain();
  return SUCCESS;
}

/* Copies and fills. */

static int copy(const char *call, Handle target, bool to_host, Handle source, bool from_host, size_t bytes, Handle stream) {
  if (!holds(target, bytes, to_host) || !holds(source, bytes, from_host))
    return complain(INVALID_VALUE, "%s of %zu bytes leaves its memory, or that is no live one", call, bytes);
  return give(stream, (Work){.kind = COPY, .target = target, .source = source, .bytes = bytes});
}
int hipMemcpyHtoDAsync(Handle target, Handle source, size_t bytes, Handle stream) {
  ENTER("%zu", bytes);
  return copy(__func__, target, false, source, true, bytes, stream);
}
int hipMemcpyDtoHAsync(Handle target, Handle source, size_t bytes, Handle stream) {
  ENTER("%zu", bytes);
  return copy(__func__, target, true, source, false, bytes, stream);
}
int hipMemcpyDtoDAsync(Handle target, Handle source, size_t bytes, Handle stream) {
  ENTER("%zu", bytes);
  const Piece *to = piece_at((void *)target), *from = piece_at((void *)source);
  if (to && from && to->device != from->device && !reached[to->device][from->device] && !reached[from->device][to->device])
    return complain(INVALID_VALUE, "a direct copy between devices that do not reach each other");
  return copy(__func__, target, false, source, false, bytes, stream);
}
int hipMemcpyPeerAsync(Handle target, int target_device, Handle source, int source_device, size_t bytes, Handle stream) {
  ENTER("%d, %d, %zu", target_device, source_device, bytes);
  const Piece *to = piece_at((void *)target), *from = piece_at((void *)source);
  if (!to || !from || to->device != target_device || from->device != source_device)
    return complain(INVALID_VALUE, "hipMemcpyPeerAsync names the wrong device");
  return copy(__func__, target, false, source, false, bytes, stream);
}
int hipMemsetD8Async(Handle target, unsigned char value, size_t bytes, Handle stream) {
  ENTER("%u, %zu", value, bytes);
  if (!holds(target, bytes, false)) return complain(INVALID_VALUE, "a fill of %zu bytes leaves its memory", bytes);
  return give(stream, (Work){.kind = FILL, .target = target, .value = value, .bytes = bytes});
}

/* Launches. */

int hipModuleLaunchKernel(Handle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared, Handle stream, void **params, void **extra) {
  const Function *function = (Function *)handle;
  if (params || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3)
    return complain(INVALID_VALUE, "%s: the list of what is passed is not HIP's", function->name);
  const size_t bytes = *(size_t *)extra[3];
  if (bytes != function->bytes())
    return complain(INVALID_VALUE, "%s takes %zu bytes of parameters and was given %zu", function->name, function->bytes(), bytes);
  char *kept = malloc(bytes ? bytes : 1), text[MOST_ARGUMENTS];
  memcpy(kept, extra[1], bytes);
  function->shown(kept, text, sizeof text, known);
  ENTER("%s, %u x %u x %u, %u x %u x %u, %u: %.800s", function->name, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, text);
  const uint64_t threads = (uint64_t)block_x * block_y * block_z;
  if (threads == 0 || threads > function->most || (uint64_t)grid_x * grid_y * grid_z == 0 || grid_y > 65535 || grid_z > 65535 || shared > SHARED)
    return complain(INVALID_VALUE, "%s: no such grid", function->name);
  return give(stream, (Work){.kind = LAUNCH, .function = function, .params = kept, .shared = shared,
                             .shape = {grid_x, grid_y, grid_z, block_x, block_y, block_z}});
}

/* Events. */

int hipEventCreateWithFlags(Handle *event, unsigned flags) {
  ENTER("%u", flags);
  Event *made = calloc(1, sizeof *made);
  made->live = true;
  made->timed = flags != 2;
  *event = (Handle)made;
  return SUCCESS;
}
int hipEventDestroy(Handle handle) {
  ENTER("%s", "");
  Event *event = (Event *)handle;
  if (!event->live) return complain(INVALID_HANDLE, "hipEventDestroy twice");
  event->live = false;
  return SUCCESS;
}
int hipEventRecord(Handle handle, Handle stream_handle) {
  ENTER("%s", "");
  Event *event = (Event *)handle;
  Stream *stream = (Stream *)stream_handle;
  if (!event->live) return complain(INVALID_HANDLE, "hipEventRecord of a destroyed event");
  event->graph = stream ? stream->graph : NULL;
  event->stream = stream;
  if (event->graph) {
    event->at = stream->length;
    return SUCCESS;
  }
  return give(stream_handle, (Work){.kind = RECORD, .event = event, .mark = ++event->asked});
}
int hipEventQuery(Handle handle) {
  ENTER("%s", "");
  const Event *event = (Event *)handle;
  if (!event->live) return complain(INVALID_HANDLE, "hipEventQuery of a destroyed event");
  if (event->graph) return CAPTURED_EVENT;
  const bool pending = event->done < event->asked;
  if (still_pending(pending)) return NOT_READY;
  drain();
  return pending ? NOT_READY : SUCCESS;
}
int hipEventSynchronize(Handle handle) {
  ENTER("%s", "");
  const Event *event = (Event *)handle;
  if (!event->live) return complain(INVALID_HANDLE, "hipEventSynchronize of a destroyed event");
  drain();
  return SUCCESS;
}
int hipEventElapsedTime(float *milliseconds, Handle start, Handle end) {
  const Event *first = (Event *)start, *last = (Event *)end;
  if (!first->timed || !last->timed || first->done == 0 || last->done == 0)
    return complain(INVALID_HANDLE, "the time between events without times");
  *milliseconds = (float)(last->time - first->time);
  return SUCCESS;
}
int hipStreamWaitEvent(Handle handle, Handle event_handle, unsigned flags) {
  ENTER("%u", flags);
  Stream *stream = (Stream *)handle;
  Event *event = (Event *)event_handle;
  if (!event->live) return complain(INVALID_HANDLE, "hipStreamWaitEvent of a destroyed event");
  if (event->graph) {
    if (stream->graph && stream->graph != event->graph) return complain(INVALID_HANDLE, "two captures meet");
    stream->graph = event->graph;
    if (event->at == event->stream->length) event->stream->joined = true;
    if (stream != event->graph->origin) stream->joined = false, stream->length++;
    return SUCCESS;
  }
  if (event->asked == 0) return complain(INVALID_HANDLE, "a stream waits for an event that nothing has recorded");
  return give(handle, (Work){.kind = WAIT, .event = event, .mark = event->asked});
}

/* Graphs. */

int hipStreamBeginCapture(Handle handle, int mode) {
  ENTER("%d", mode);
  Stream *stream = (Stream *)handle;
  if (stream->graph) return complain(INVALID_VALUE, "a capture inside a capture");
  Graph *graph = calloc(1, sizeof *graph);
  graph->live = true;
  graph->origin = stream;
  stream->graph = graph;
  captures++;
  return SUCCESS;
}
int hipStreamEndCapture(Handle handle, Handle *graph) {
  ENTER("%s", "");
  Stream *origin = (Stream *)handle;
  Graph *made = origin->graph;
  *graph = 0;
  if (!made) return complain(INVALID_VALUE, "the end of no capture");
  bool unjoined = false;
  captures--;
  for (Stream *stream = streams; stream; stream = stream->older)
    if (stream->graph == made) {
      unjoined |= stream != origin && !stream->joined;
      stream->graph = NULL;
    }
  if (unjoined) return CAPTURE_UNJOINED;
  *graph = (Handle)made;
  return SUCCESS;
}
int hipGraphInstantiateWithFlags(Handle *executable, Handle graph, unsigned long long flags) {
  ENTER("%llu", flags);
  if (!((Graph *)graph)->live) return complain(INVALID_HANDLE, "a graph that was destroyed");
  Graph *made = malloc(sizeof *made);
  *made = *(Graph *)graph;
  *executable = (Handle)made;
  return SUCCESS;
}
int hipGraphGetNodes(Handle graph, Handle *nodes, size_t *count) {
  (void)nodes;
  *count = ((Graph *)graph)->nodes;
  return SUCCESS;
}
int hipGraphLaunch(Handle executable, Handle stream) {
  ENTER("%s", "");
  if (!((Graph *)executable)->live) return complain(INVALID_HANDLE, "hipGraphLaunch of a destroyed graph");
  return give(stream, (Work){.kind = GRAPH, .graph = (Graph *)executable});
}
static int destroy_graph(const char *call, Handle handle) {
  Graph *graph = (Graph *)handle;
  if (!graph->live) return complain(INVALID_HANDLE, "%s twice", call);
  drain();
  graph->live = false;
  return SUCCESS;
}
int hipGraphDestroy(Handle graph) {
  ENTER("%s", "");
  return destroy_graph("hipGraphDestroy", graph);
}
int hipGraphExecDestroy(Handle executable) {
  ENTER("%s", "");
  return destroy_graph("hipGraphExecDestroy", executable);
}

/* The run-time compiler: the system's C++ compiler behind a header with what HIP has of its own. */

typedef struct { char *source, *log, *code; size_t log_bytes, code_bytes; } Program;

int hiprtcVersion(int *major, int *minor) {
  *major = 9;
  *minor = 0;
  return SUCCESS;
}
const char *hiprtcGetErrorString(int status) { return status == COMPILATION ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR"; }
int hiprtcCreateProgram(Handle *program, const char *source, const char *name, int headers, void *sources, void *names) {
  ENTER("%s", name);
  if (headers || sources || names) return complain(INVALID_VALUE, "no headers are expected");
  Program *made = calloc(1, sizeof *made);
  made->source = strdup(source);
  *program = (Handle)made;
  return SUCCESS;
}
int hiprtcDestroyProgram(Handle *program) {
  Program *made = (Program *)*program;
  free(made->source);
  free(made->log);
  free(made->code);
  free(made);
  *program = 0;
  return SUCCESS;
}

static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *bytes = ftell(file);
  rewind(file);
  char *data = malloc(*bytes + 1);
  *bytes = fread(data, 1, *bytes, file);
  data[*bytes] = 0;
  fclose(file);
  return data;
}

/* Memory whose size the launch decides is no array of C++. */
static void replace_dynamic(char *source) {
  static const char before[] = "extern __shared__ double ";
  for (char *at; (at = strstr(source, before));) {
    char name[100];
    sscanf(at + sizeof before - 1, "%99[A-Za-z0-9_]", name);
    char line[256];
    const int length = snprintf(line, sizeof line, "double *%s=fake::dynamic;", name);
    char *end = strchr(at, ';') + 1;
    memset(at, ' ', end - at);
    memcpy(at, line, length);
  }
}

int hiprtcCompileProgram(Handle handle, int count, const char **options) {
  Program *program = (Program *)handle;
  char flags[1024] = "";
  for (int n = 0; n < count; n++) snprintf(flags + strlen(flags), sizeof flags - strlen(flags), "%s%s", n ? " " : "", options[n]);
  ENTER("%s", flags);
  if (!strstr(flags, "--gpu-architecture=gfx90a:sramecc+:xnack- ") || !strstr(flags, "-ffp-contract="))
    return complain(INVALID_VALUE, "the options of the compiler");
  static const char source[] = FAKE_FOLDER "/kernel.cpp", code[] = FAKE_FOLDER "/kernel.so", log[] = FAKE_FOLDER "/kernel.log";
  char command[2048];
  replace_dynamic(program->source);
  FILE *file = fopen(source, "w");
  fprintf(file, "#include \"%s\"\n#line 1 \"kernel.hip\"\n%s\n", FAKE_DEVICE, program->source);
  static const char bounds[] = "__global__ void __launch_bounds__(";
  for (const char *at = program->source; (at = strstr(at, bounds)); at++) {
    unsigned most;
    char name[200];
    if (sscanf(at + sizeof bounds - 1, "%u) %199[A-Za-z0-9_]", &most, name) == 2)
      fprintf(file, "FAKE_ENTRY(%s)\nextern \"C\" { unsigned %s_most = %u; }\n", name, name, most);
  }
  fclose(file);
  const bool off = strstr(flags, "-ffp-contract=off") != NULL;
  snprintf(command, sizeof command, "%s -x c++ " FAKE_FLAGS " -ffp-contract=%s -shared %s -o %s -lm 2>%s",
           FAKE_COMPILER, off ? "off" : "fast", source, code, log);
  const int status = system(command);
  program->log = read_file(log, &program->log_bytes);
  size_t bytes = 0;
  char *library = status == 0 ? read_file(code, &bytes) : NULL;
  if (library) {
    const uint64_t length = bytes;
    program->code_bytes = bytes + sizeof length;
    program->code = malloc(program->code_bytes);
    memcpy(program->code, &length, sizeof length);
    memcpy(program->code + sizeof length, library, bytes);
    free(library);
  }
  unlink(source);
  unlink(code);
  unlink(log);
  return program->code ? SUCCESS : COMPILATION;
}
static const char *log_of(Handle handle) {
  const Program *program = (Program *)handle;
  return program->log ? program->log : "kernel.hip:1: error: as the test asked for";
}
int hiprtcGetProgramLogSize(Handle program, size_t *size) {
  *size = strlen(log_of(program)) + 1;
  return SUCCESS;
}
int hiprtcGetProgramLog(Handle program, char *log) {
  strcpy(log, log_of(program));
  return SUCCESS;
}
int hiprtcGetCodeSize(Handle program, size_t *size) {
  *size = ((Program *)program)->code_bytes;
  return SUCCESS;
}
int hiprtcGetCode(Handle program, char *code) {
  memcpy(code, ((Program *)program)->code, ((Program *)program)->code_bytes);
  return SUCCESS;
}
