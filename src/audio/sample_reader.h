#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"

namespace tutti {

/// Samples [start, end).
struct SampleRange {
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool operator==(const SampleRange&) const = default;
};

/// Audio at 16 kHz, mono, 16 bits, of which any part can be read at any time: a decoded file, or parts of one in a row.
/// Thread-safe.
class SampleReader {
 public:
  virtual ~SampleReader() = default;

  virtual std::int64_t samples() const = 0;

  /// Samples [first, first + out.size()); those before the start or past the end read as silence.
  virtual Result<void> read(std::int64_t first, std::span<std::int16_t> out) const = 0;

 protected:
  SampleReader() = default;
  SampleReader(const SampleReader&) = default;
  SampleReader(SampleReader&&) = default;
  SampleReader& operator=(const SampleReader&) = default;
  SampleReader& operator=(SampleReader&&) = default;
};

}  // namespace tutti
