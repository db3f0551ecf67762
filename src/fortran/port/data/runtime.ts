/* The header with which ports to C++ keep a program's arrays on the device, beside the host's. */

import type { CppTarget } from "../targets.js";

/** The header's name. */
export const DATA_HEADER = "isoform_data.h";

/** Its text; GPU stands for the runtime's name. */
const TEXT = `// Included by the kernels beside it, and compiled with them.
// Memory of the device for arrays of the host, as OpenACC counts it: by regions (structured) and by enter and exit (dynamic).
// ISOFORM_TRANSFERS=1 in the environment prints at the end what was copied.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <GPU_runtime.h>

namespace isoform_data {

/** Memory of the host from \`host\` on, and the device's for it. */
struct Entry {
  char *host, *device;
  size_t bytes;
  long structured, dynamic;
  bool lasting;
};

/** Elements of an array that a directive names: a box, the first axis contiguous. */
struct Part {
  static constexpr int most = 15;
  char *base;
  size_t element;
  int rank;
  size_t extents[most], first[most], count[most];

  size_t offset(bool last) const {
    size_t at = 0, stride = element;
    for (int axis = 0; axis < rank; axis++) {
      at += (first[axis] + (last ? count[axis] - 1 : 0)) * stride;
      stride *= extents[axis];
    }
    return at;
  }
  bool empty() const {
    for (int axis = 0; axis < rank; axis++)
      if (count[axis] == 0) return true;
    return false;
  }
  char *begin() const { return base + offset(false); }
  size_t bytes() const { return offset(true) + element - offset(false); }

  /** Calls \`copy\` for each run of adjacent elements, with its distance from the base and its size. */
  template <class F> void runs(F copy) const {
    int whole = 0;
    size_t run = element;
    while (whole < rank && count[whole] == extents[whole]) run *= count[whole++];
    if (whole < rank) run *= count[whole++];
    size_t index[most] = {};
    for (;;) {
      size_t at = 0, stride = element;
      for (int axis = 0; axis < rank; axis++) {
        at += (first[axis] + index[axis]) * stride;
        stride *= extents[axis];
      }
      copy(at, run);
      int axis = whole;
      while (axis < rank && ++index[axis] == count[axis]) index[axis++] = 0;
      if (axis >= rank) return;
    }
  }
};

struct State {
  std::map<char *, Entry> entries;
  /** Copies for loops that use the host's values, whatever is on the device. */
  std::map<char *, Entry> lent;
  /** Addresses of the device by addresses of the host, while a launch or a host_data region has them. */
  std::map<char *, char *> addresses;
  long copies_in = 0, copies_out = 0;
  size_t bytes_in = 0, bytes_out = 0;

  ~State() {
    const char *wanted = std::getenv("ISOFORM_TRANSFERS");
    if (wanted && *wanted && *wanted != '0')
      std::fprintf(stderr, "isoform: %ld copies to the device (%zu bytes), %ld copies back (%zu bytes)\\n", copies_in, bytes_in, copies_out,
                   bytes_out);
  }
};

inline State &state() {
  static State only;
  return only;
}

/** A text such as "enter copyin: u at heat.f90:12". */
struct Action {
  const char *text;
  bool is(const char *word) const {
    const char *colon = std::strchr(text, ':'), *found = std::strstr(text, word);
    return found && colon && found < colon;
  }
  [[noreturn]] void stop(const char *why) const {
    const char *colon = std::strchr(text, ':');
    std::fflush(stdout);
    std::fprintf(stderr, "isoform: %s: %s\\n", colon ? colon + 2 : text, why);
    std::exit(1);
  }
};

inline void check(GPUError_t status, Action action) {
  if (status != GPUSuccess) action.stop(GPUGetErrorString(status));
}

/** The entry that holds a part; null if nothing of it is on the device. */
inline Entry *find(std::map<char *, Entry> &entries, char *begin, size_t bytes, Action action) {
  auto next = entries.upper_bound(begin);
  if (next != entries.begin()) {
    Entry &before = std::prev(next)->second;
    if (begin < before.host + before.bytes) {
      if (begin + bytes > before.host + before.bytes) action.stop("only a part of it is on the device");
      return &before;
    }
  }
  if (next != entries.end() && next->first < begin + bytes) action.stop("only a part of it is on the device");
  return nullptr;
}

inline void to_device(const Entry &entry, const Part &part, Action action) {
  check(GPUDeviceSynchronize(), action);
  part.runs([&](size_t at, size_t bytes) {
    char *host = part.base + at;
    check(GPUMemcpy(entry.device + (host - entry.host), host, bytes, GPUMemcpyHostToDevice), action);
    state().bytes_in += bytes;
  });
  state().copies_in++;
}

inline void to_host(const Entry &entry, const Part &part, Action action) {
  check(GPUDeviceSynchronize(), action);
  part.runs([&](size_t at, size_t bytes) {
    char *host = part.base + at;
    check(GPUMemcpy(host, entry.device + (host - entry.host), bytes, GPUMemcpyDeviceToHost), action);
    state().bytes_out += bytes;
  });
  state().copies_out++;
}

inline void enter(const Part &part, Action action) {
  if (part.empty()) return;
  auto &entries = action.is("host") ? state().lent : state().entries;
  Entry *entry = find(entries, part.begin(), part.bytes(), action);
  const bool fresh = !entry;
  if (fresh) {
    if (action.is("if_present")) {
      state().addresses[part.base] = part.base;
      return;
    }
    if (action.is("present")) action.stop("it is not on the device: enter it before");
    if (action.is("no_create")) return;
    Entry made = {part.begin(), nullptr, part.bytes(), 0, 0, false};
    check(GPUMalloc((void **)&made.device, made.bytes), action);
    entry = &(entries[made.host] = made);
  }
  if (action.is("declare")) entry->lasting = true;
  else if (action.is("enter")) entry->dynamic++;
  else entry->structured++;
  if (action.is("copyin") && (fresh || action.is("always"))) to_device(*entry, part, action);
  state().addresses[part.base] = entry->device + (part.base - entry->host);
}

inline void leave(const Part &part, Action action) {
  if (part.empty()) return;
  state().addresses.erase(part.base);
  auto &entries = action.is("host") ? state().lent : state().entries;
  Entry *entry = find(entries, part.begin(), part.bytes(), action);
  if (!entry) return;
  long &count = action.is("exit") ? entry->dynamic : entry->structured;
  count = action.is("finalize") || count == 0 ? 0 : count - 1;
  const bool last = entry->structured == 0 && entry->dynamic == 0 && !entry->lasting;
  if (action.is("copyout") && (last || action.is("always"))) to_host(*entry, part, action);
  if (!last) return;
  check(GPUDeviceSynchronize(), action);
  check(GPUFree(entry->device), action);
  entries.erase(entry->host);
}

inline void update(const Part &part, Action action) {
  if (part.empty()) return;
  const Entry *entry = find(state().entries, part.begin(), part.bytes(), action);
  if (!entry && action.is("if_present")) return;
  if (!entry) action.stop("it is not on the device: enter it before");
  if (action.is("self")) to_host(*entry, part, action);
  else to_device(*entry, part, action);
}

/** The device's address for an array that has been entered; null for one without elements. */
inline void *address(void *base) {
  const auto found = state().addresses.find((char *)base);
  return found == state().addresses.end() ? nullptr : found->second;
}

inline size_t bytes_of(int bits, Action action) {
  if (bits < 0) action.stop("its elements are not adjacent: copy it to an array first");
  return size_t(bits) / 8;
}

inline Part whole(void *base, int bits, size_t count, Action action) {
  return Part{(char *)base, bytes_of(bits, action), 1, {count}, {0}, {count}};
}

inline Part box(void *base, int bits, int rank, const int *lbounds, const int *extents, const int *lower, const int *upper, Action action) {
  Part part = {(char *)base, bytes_of(bits, action), rank, {}, {}, {}};
  for (int axis = 0; axis < rank; axis++) {
    if (lower[axis] < lbounds[axis] || (axis < rank - 1 && upper[axis] - lbounds[axis] >= extents[axis] && upper[axis] >= lower[axis]))
      if (upper[axis] >= lower[axis]) action.stop("the section is outside of it");
    part.first[axis] = size_t(lower[axis] - lbounds[axis]);
    part.count[axis] = upper[axis] < lower[axis] ? 0 : size_t(upper[axis] - lower[axis]) + 1;
    // Nothing depends on the extent of the last axis.
    part.extents[axis] = axis == rank - 1 ? part.first[axis] + part.count[axis] : size_t(extents[axis]);
  }
  return part;
}

}  // namespace isoform_data

// Called from Fortran. They are the same in each file: the linker keeps one.
#define ISOFORM_DATA(name, use)                                                                                             \\
  extern "C" __attribute__((used)) inline void isoform_##name(void *base, int bits, size_t count, const char *text) {       \\
    isoform_data::use(isoform_data::whole(base, bits, count, {text}), {text});                                              \\
  }                                                                                                                         \\
  extern "C" __attribute__((used)) inline void isoform_##name##_part(void *base, int bits, int rank, const int *lbounds,    \\
                                                                    const int *extents, const int *lower, const int *upper, \\
                                                                    const char *text) {                                     \\
    isoform_data::use(isoform_data::box(base, bits, rank, lbounds, extents, lower, upper, {text}), {text});                 \\
  }
ISOFORM_DATA(enter, enter)
ISOFORM_DATA(exit, leave)
ISOFORM_DATA(update, update)
extern "C" __attribute__((used)) inline void *isoform_address(void *base) { return isoform_data::address(base); }
`;

export const dataHeader = (runtime: CppTarget): string =>
  TEXT.replace("<GPU_runtime.h>", runtime === "hip" ? "<hip/hip_runtime.h>" : "<cuda_runtime.h>").replace(/GPU(?=[A-Z_])/g, runtime);
