#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/byte_source.h"
#include "audio/ffmpeg/api.h"

namespace tutti {

/// A container opened over a ByteSource, with the audio stream to decode chosen and all others switched off.
class FfmpegInput {
 public:
  static Result<std::unique_ptr<FfmpegInput>> open(const FfmpegApi& api, ByteSource& bytes, const std::string& name);
  FfmpegInput(const FfmpegInput&) = delete;
  FfmpegInput& operator=(const FfmpegInput&) = delete;
  ~FfmpegInput();

  AVFormatContext* context() const { return context_; }
  AVStream* stream() const { return stream_; }
  /// The stream's length in its time base by its header; none where FFmpeg only estimates or lends it another's.
  std::optional<std::int64_t> promised_ticks() const;

 private:
  FfmpegInput(const FfmpegApi& api, ByteSource& bytes) : api_(api), bytes_(bytes) {}
  Result<void> open_container(const std::string& name);
  Result<void> choose_stream();

  static int read(void* self, std::uint8_t* out, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  const FfmpegApi& api_;
  ByteSource& bytes_;
  std::int64_t offset_ = 0;
  AVIOContext* io_ = nullptr;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
  std::vector<std::int64_t> header_lengths_;
};

}  // namespace tutti
