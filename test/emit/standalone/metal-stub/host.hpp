/* Threads and blocks of the stub, for its language and its host. */
#pragma once
#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using uint = unsigned int;
using ushort = unsigned short;
using uchar = unsigned char;
using ulong = unsigned long;
struct uint3 { uint x, y, z; };

namespace host {
constexpr uint WARP = 32;
struct Block {
  explicit Block(uint threads) : all(threads), lanes(threads) {
    for (uint n = 0; n < threads; n += WARP) warps.push_back(std::make_unique<std::barrier<>>(threads - n < WARP ? threads - n : WARP));
  }
  std::barrier<> all;
  std::vector<uint64_t> lanes;
  std::vector<std::unique_ptr<std::barrier<>>> warps;
};
inline Block *block = nullptr;
inline thread_local uint self = 0;

template <class T> T exchange(T value, uint from) {
  auto &warp = *block->warps[self / WARP];
  std::memcpy(&block->lanes[self], &value, sizeof value);
  warp.arrive_and_wait();
  T found = value;
  if (from / WARP == self / WARP && from < block->lanes.size()) std::memcpy(&found, &block->lanes[from], sizeof found);
  warp.arrive_and_wait();
  return found;
}
} // namespace host

