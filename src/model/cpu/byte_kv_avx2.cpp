#include <immintrin.h>

#include <algorithm>

#include "model/cpu/byte_kv_words_avx2.h"

namespace tutti {
namespace {

/// Position t less the mean as 64 whole numbers from -127 to 127, and what one of them is worth. Behind the last:
/// zeros.
void write_bytes(const ByteKvJob& job, std::int64_t t, std::int8_t* bytes) {
  if (t >= job.positions) {
    job.scales[t] = 0;
    std::fill_n(bytes, kSize, std::int8_t{0});
    return;
  }
  Position here, mean;
  load_position(here, job.from + t * job.stride);
  load_position(mean, job.mean);
  for (int i = 0; i < kParts; ++i) here[i] -= mean[i];
  const float scale = largest_size(here) / 127;
  job.scales[t] = scale;
  for (int i = 0; i < kParts; ++i) {
    using Bytes = std::int8_t __attribute__((vector_size(16)));
    write_lanes(bytes + i * kLanes, narrowed<Bytes>(rounded(here[i] * (1 / scale))));
  }
}

void pack_keys(const ByteKvJob& job, std::uint8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; ++t) {
    std::int8_t bytes[kSize];
    write_bytes(job, t, bytes);
    write_key(to, t, bytes);
  }
}

void pack_values(const ByteKvJob& job, std::int8_t* to) {
  find_mean(job);
  for (std::int64_t t = 0; t < job.padded; t += 4, to += 4 * kSize) {
    std::int8_t rows[4][kSize];
    for (int p = 0; p < 4; ++p) write_bytes(job, t + p, rows[p]);
    for (int k = 0; k < kParts; ++k) {
      const auto row = [&](int p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[p]) + k); };
      const auto first_low = _mm_unpacklo_epi8(row(0), row(1)), first_high = _mm_unpackhi_epi8(row(0), row(1));
      const auto last_low = _mm_unpacklo_epi8(row(2), row(3)), last_high = _mm_unpackhi_epi8(row(2), row(3));
      auto* out = reinterpret_cast<__m128i*>(to) + k;
      _mm_storeu_si128(out, _mm_unpacklo_epi16(first_low, last_low));
      _mm_storeu_si128(out + 4, _mm_unpackhi_epi16(first_low, last_low));
      _mm_storeu_si128(out + 8, _mm_unpacklo_epi16(first_high, last_high));
      _mm_storeu_si128(out + 12, _mm_unpackhi_epi16(first_high, last_high));
    }
  }
}

}  // namespace

ByteKvKernels byte_kv_kernels_avx2() {
  return {pack_keys, pack_values, attend};
}

}  // namespace tutti
