#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/resampler.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// The header of a WAV that comes as a stream.
struct WavFormat {
  Hertz rate{};
  int channels = 0;
  int bits = 0;  // of a sample: 8, 16, 24 or 32
  bool is_float = false;
  std::optional<std::int64_t> bytes{};  // of samples; none: the header does not say, as of a stream

  int bytes_of_frame() const { return channels * bits / 8; }
};

/// Bytes of a WAV, or of bare samples, to 16 kHz mono as they come, with no more delay than the resampler's filter.
/// One thread.
class PcmStream {
 public:
  /// A WAV: 8 to 32 bits, integers or floats. What follows its samples is left out. `name`: of the source, in errors.
  PcmStream(std::string name, TakePcm take);
  /// 16-bit little-endian samples of one channel at `rate`.
  PcmStream(std::string name, Hertz rate, TakePcm take);
  ~PcmStream();
  PcmStream(const PcmStream&) = delete;
  PcmStream& operator=(const PcmStream&) = delete;

  /// Takes the next bytes. Fault::corrupt and Fault::unsupported for what is no WAV, or not one of these; errors of
  /// `take`.
  Result<void> feed(std::span<const std::byte> bytes);
  /// No more comes. Fault::corrupt where it ended within its header.
  Result<void> finish();

  /// None: the header is not complete yet.
  const std::optional<WavFormat>& format() const { return format_; }
  /// How much less came than the header promises; 0: all did, or it promises nothing.
  Seconds missing() const;

 private:
  Result<bool> read_header();
  Result<void> push(std::span<const std::byte> frames);

  std::string name_;
  TakePcm take_;
  Resampler resampler_;
  std::optional<WavFormat> format_{};
  std::vector<std::byte> pending_{};
  std::size_t chunk_at_ = 12;  // in `pending_`, while the header is read
  std::int64_t taken_ = 0;     // bytes of samples
};

}  // namespace tutti
