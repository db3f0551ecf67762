/* Enough of metal-cpp to run the host's code: a command runs where it is encoded, by the entries that the test lists. */
#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>
#include "../host.hpp"

namespace NS {
struct Error {};
enum { UTF8StringEncoding };
struct String {
  std::string text;
  static String *string(const char *text, int) { return new String{text}; }
};
} // namespace NS

namespace MTL {
enum { ResourceStorageModeShared, CommandBufferStatusError = 5 };
struct Size {
  size_t width, height, depth;
  Size(size_t w, size_t h, size_t d) : width(w), height(h), depth(d) {}
};
struct Buffer {
  std::vector<char> bytes;
  void *contents() { return bytes.data(); }
  void release() { delete this; }
};
struct Call {
  std::vector<Buffer *> arrays;
  std::vector<char> numbers, shared;
};
using Entry = void (*)(Call &, uint3 thread, uint3 block, uint3 threads, uint3 blocks);
inline std::map<std::string, Entry> entries;

struct Function {
  Entry entry;
  void release() { delete this; }
};
struct Library {
  Function *newFunction(NS::String *name) { return entries.count(name->text) ? new Function{entries[name->text]} : nullptr; }
};
struct ComputePipelineState {
  Entry entry;
  void release() { delete this; }
};
struct ComputeCommandEncoder {
  Entry entry = nullptr;
  Call call;
  void setComputePipelineState(ComputePipelineState *state) { entry = state->entry; }
  void setBuffer(Buffer *buffer, size_t, size_t n) { call.arrays.resize(n + 1), call.arrays[n] = buffer; }
  void setBytes(const void *bytes, size_t count, size_t) { call.numbers.assign((const char *)bytes, (const char *)bytes + count); }
  void setThreadgroupMemoryLength(size_t bytes, size_t) { call.shared.resize(bytes); }
  void dispatchThreadgroups(Size grid, Size size) {
    const uint3 threads{(uint)size.width, (uint)size.height, (uint)size.depth}, blocks{(uint)grid.width, (uint)grid.height, (uint)grid.depth};
    for (uint z = 0; z < blocks.z; z++)
      for (uint y = 0; y < blocks.y; y++)
        for (uint x = 0; x < blocks.x; x++) {
          host::Block block(threads.x * threads.y * threads.z);
          host::block = &block;
          std::vector<std::thread> all;
          for (uint n = 0; n < threads.x * threads.y * threads.z; n++)
            all.emplace_back([&, n] {
              host::self = n;
              entry(call, {n % threads.x, n / threads.x % threads.y, n / threads.x / threads.y}, {x, y, z}, threads, blocks);
            });
          for (auto &thread : all) thread.join();
        }
  }
  void endEncoding() {}
};
struct CommandBuffer {
  ComputeCommandEncoder *computeCommandEncoder() { return new ComputeCommandEncoder; }
  void commit() {}
  void waitUntilCompleted() {}
  int status() { return 0; }
};
struct Device {
  ComputePipelineState *newComputePipelineState(Function *function, NS::Error **) { return new ComputePipelineState{function->entry}; }
  Buffer *newBuffer(size_t bytes, int) { return new Buffer{std::vector<char>(bytes)}; }
};
struct CommandQueue {
  Device *device() { return new Device; }
  CommandBuffer *commandBuffer() { return new CommandBuffer; }
};
} // namespace MTL
