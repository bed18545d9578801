#include <immintrin.h>

#include "model/cpu/matrix/tile_kernel.h"

namespace tutti {
namespace {

/// All eight tiles 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// In memory of its own: g++ 12 does not know that loading it reads more than eight bytes, and leaves out the writing.
const TileConfiguration kAllTiles;

void enter_tiles() {
  _tile_loadconfig(&kAllTiles);
}

void leave_tiles() {
  _tile_release();
}

/// The position of a block in a job.
struct Block {
  const std::byte* rows;
  const std::byte* panels;
  float* sums;  // int32 is as wide
};

Block block_at(const TileJob& job, std::int64_t row, std::int64_t panel) {
  return {job.rows_data + row * job.row_stride, job.panels_data + panel * job.panel_stride,
          static_cast<float*>(job.sums) + row * job.sum_stride + panel * kPanel};
}

// A step of 64 bytes: 16 groups. The numbers of tiles are part of the instructions: sums are 0 to 3, rows 4, or 4 and
// 5, panels the others.
constexpr std::int64_t kStep = 16;

/// 32 rows of two panels: four products for four loads.
template <bool bytes>
void multiply_square(const TileJob& job, const Block& at) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t group = 0; group < job.groups; group += kStep) {
    _tile_loadd(4, at.rows + group * 4, job.row_stride);
    _tile_loadd(5, at.rows + kRowsTogether * job.row_stride + group * 4, job.row_stride);
    _tile_loadd(6, at.panels + group * 64, 64);
    _tile_loadd(7, at.panels + job.panel_stride + group * 64, 64);
    if constexpr (bytes) {
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    } else {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  const auto row_bytes = job.sum_stride * 4;
  float* lower = at.sums + kRowsTogether * job.sum_stride;
  _tile_stored(0, at.sums, row_bytes);
  _tile_stored(1, at.sums + kPanel, row_bytes);
  _tile_stored(2, lower, row_bytes);
  _tile_stored(3, lower + kPanel, row_bytes);
}

/// 16 rows of four panels, for which every weight is read once.
template <bool bytes>
void multiply_wide(const TileJob& job, const Block& at) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t group = 0; group < job.groups; group += kStep) {
    const auto* panel = at.panels + group * 64;
    _tile_loadd(4, at.rows + group * 4, job.row_stride);
    _tile_loadd(5, panel, 64);
    _tile_loadd(6, panel + job.panel_stride, 64);
    _tile_loadd(7, panel + 2 * job.panel_stride, 64);
    if constexpr (bytes) {
      _tile_dpbusd(0, 4, 5);
      _tile_dpbusd(1, 4, 6);
      _tile_dpbusd(2, 4, 7);
      _tile_loadd(5, panel + 3 * job.panel_stride, 64);
      _tile_dpbusd(3, 4, 5);
    } else {
      _tile_dpbf16ps(0, 4, 5);
      _tile_dpbf16ps(1, 4, 6);
      _tile_dpbf16ps(2, 4, 7);
      _tile_loadd(5, panel + 3 * job.panel_stride, 64);
      _tile_dpbf16ps(3, 4, 5);
    }
  }
  const auto row_bytes = job.sum_stride * 4;
  _tile_stored(0, at.sums, row_bytes);
  _tile_stored(1, at.sums + kPanel, row_bytes);
  _tile_stored(2, at.sums + 2 * kPanel, row_bytes);
  _tile_stored(3, at.sums + 3 * kPanel, row_bytes);
}

/// What is left: 16 rows of one panel.
template <bool bytes>
void multiply_single(const TileJob& job, const Block& at) {
  _tile_zero(0);
  for (std::int64_t group = 0; group < job.groups; group += kStep) {
    _tile_loadd(4, at.rows + group * 4, job.row_stride);
    _tile_loadd(5, at.panels + group * 64, 64);
    if constexpr (bytes) {
      _tile_dpbusd(0, 4, 5);
    } else {
      _tile_dpbf16ps(0, 4, 5);
    }
  }
  _tile_stored(0, at.sums, job.sum_stride * 4);
}

template <bool bytes>
void multiply_in_tiles(const TileJob& job) {
  std::int64_t row = 0;
  for (; job.rows - row > kRowsTogether; row += 2 * kRowsTogether) {
    std::int64_t panel = 0;
    for (; job.panels - panel >= 2; panel += 2) multiply_square<bytes>(job, block_at(job, row, panel));
    for (; panel < job.panels; ++panel) {
      multiply_single<bytes>(job, block_at(job, row, panel));
      multiply_single<bytes>(job, block_at(job, row + kRowsTogether, panel));
    }
  }
  if (row >= job.rows) return;
  std::int64_t panel = 0;
  for (; job.panels - panel >= 4; panel += 4) multiply_wide<bytes>(job, block_at(job, row, panel));
  for (; panel < job.panels; ++panel) multiply_single<bytes>(job, block_at(job, row, panel));
}

/// `table` of the same precision, but for its products.
Kernels in_tiles(Kernels table, void (*multiply)(const TileJob&)) {
  table.multiply = multiply;
  table.enter = enter_tiles;
  table.leave = leave_tiles;
  return table;
}

}  // namespace

Kernels bfloat16_kernels_amx() {
  return in_tiles(bfloat16_kernels_bf16(), multiply_in_tiles<false>);
}

Kernels int8_kernels_amx() {
  return in_tiles(int8_kernels_vnni(), multiply_in_tiles<true>);
}

}  // namespace tutti
