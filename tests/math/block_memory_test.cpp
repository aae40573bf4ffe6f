#include "tangere/math/block_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace tangere::test {
namespace {

TEST(BlockMemory, AlignsBlocksOfEverySize) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 8; bytes < 12000; bytes += bytes < 400 ? 8 : 1000)
    for (int i = 0; i < 20; ++i) {
      void* block = allocate_block(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U) << bytes;
      std::memset(block, i, bytes);
      blocks.emplace_back(block, bytes);
    }
  // no block was written over by another
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto* first = static_cast<const unsigned char*>(blocks[k].first);
    EXPECT_EQ(first[0], k % 20);
    EXPECT_EQ(first[blocks[k].second - 1], k % 20);
    free_block(blocks[k].first, blocks[k].second);
  }
}

}  // namespace
}  // namespace tangere::test
