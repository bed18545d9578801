#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audio/byte_source.h"
#include "audio/ffmpeg/api.h"

namespace tutti {

/// A container opened over a ByteSource, with the audio stream to decode chosen and all others switched off.
class FfmpegInput {
 public:
  /// `track`: among the audio streams, from 1; 0: the one that the ffmpeg program would pick.
  static Result<std::unique_ptr<FfmpegInput>> open(const FfmpegApi& api, ByteSource& bytes, const std::string& name,
                                                   int track);
  FfmpegInput(const FfmpegInput&) = delete;
  FfmpegInput& operator=(const FfmpegInput&) = delete;
  ~FfmpegInput();

  AVFormatContext* context() const { return context_; }
  AVStream* stream() const { return stream_; }
  /// The stream's number among the audio streams, from 1.
  int track() const { return track_; }
  /// What each audio stream is called; empty: nothing.
  const std::vector<std::string>& tracks() const { return tracks_; }
  /// Whether packets carry time stamps of their own; elsewhere FFmpeg counts them up from sizes and rates.
  bool has_clock() const;
  /// Whether several streams may follow one another under one name.
  bool may_be_chained() const;
  /// The stream's length in its time base by its header; none where FFmpeg only estimates or lends it another's, and
  /// where the header is known to be wrong.
  std::optional<std::int64_t> promised_ticks() const;

 private:
  FfmpegInput(const FfmpegApi& api, ByteSource& bytes) : api_(api), bytes_(bytes) {}
  Result<void> open_container(const std::string& name);
  Result<void> choose_stream(int track);
  std::string name_of(const AVStream& stream) const;
  bool is_format(std::string_view name) const { return name == context_->iformat->name; }
  bool is_lent() const;

  static int read(void* self, std::uint8_t* out, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  const FfmpegApi& api_;
  ByteSource& bytes_;
  std::int64_t offset_ = 0;
  AVIOContext* io_ = nullptr;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
  int track_ = 0;
  std::vector<std::string> tracks_;
  std::vector<std::int64_t> header_lengths_;
};

}  // namespace tutti
