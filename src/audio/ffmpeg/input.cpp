#include "audio/ffmpeg/input.h"

#include <algorithm>
#include <string_view>

#include "audio/containers/mp3.h"
#include "base/field_names.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr int kReadSize = 1 << 16;

/// Playlists and manifests may name any file or address: none of them is followed.
int refuse_to_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

}  // namespace

Result<std::unique_ptr<FfmpegInput>> FfmpegInput::open(const FfmpegApi& api, ByteSource& bytes, const std::string& name,
                                                       int track) {
  std::unique_ptr<FfmpegInput> input(new FfmpegInput(api, bytes));
  TRY(input->open_container(name).and_then([&] { return input->choose_stream(track); }));
  return input;
}

FfmpegInput::~FfmpegInput() {
  api_.avformat_close_input(&context_);
  if (!io_) return;
  api_.av_freep(&io_->buffer);
  api_.avio_context_free(&io_);
}

Result<void> FfmpegInput::open_container(const std::string& name) {
  auto* buffer = static_cast<unsigned char*>(api_.av_malloc(kReadSize));
  io_ = buffer ? api_.avio_alloc_context(buffer, kReadSize, 0, this, read, nullptr, seek) : nullptr;
  context_ = io_ ? api_.avformat_alloc_context() : nullptr;
  if (!context_) {
    if (!io_) api_.av_freep(&buffer);
    return fail(Fault::exhausted, "out of memory while opening the file");
  }
  context_->pb = io_;
  context_->io_open = refuse_to_open;
  AVDictionary* options = nullptr;
  api_.av_dict_set(&options, "protocol_whitelist", "none", 0);  // SDP and the like open sockets by themselves
  const int code = api_.avformat_open_input(&context_, name.c_str(), nullptr, &options);
  api_.av_dict_free(&options);
  if (code < 0)
    return fail(Fault::corrupt,
                "not a sound file that FFmpeg can read, or one with a broken header: " + api_.reason(code));
  for (unsigned i = 0; i < context_->nb_streams; ++i) header_lengths_.push_back(context_->streams[i]->duration);
  // Failing here, as the ffmpeg program does, only means that some stream stayed unclear.
  api_.avformat_find_stream_info(context_, nullptr);
  return {};
}

std::string FfmpegInput::name_of(const AVStream& stream) const {
  const auto* title = api_.av_dict_get(stream.metadata, "title", nullptr, 0);
  if (!title) title = api_.av_dict_get(stream.metadata, "handler_name", nullptr, 0);
  const auto* language = api_.av_dict_get(stream.metadata, "language", nullptr, 0);
  std::string name = title ? title->value : "";
  if (name == "SoundHandler") name.clear();  // what muxers write for a track without a name
  if (language && std::string_view(language->value) != "und")
    name += (name.empty() ? "" : ", ") + std::string(language->value);
  return name;
}

Result<void> FfmpegInput::choose_stream(int track) {
  // The ffmpeg program's rule (ffmpeg_opt.c, open_output_file): most channels, default and live streams first.
  std::int64_t best = -1;
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    AVStream* stream = context_->streams[i];
    stream->discard = AVDISCARD_ALL;
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) continue;
    tracks_.push_back(name_of(*stream));
    const int number = static_cast<int>(tracks_.size());
    const std::int64_t score = stream->codecpar->ch_layout.nb_channels +
                               (stream->event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS ? 100000000 : 0) +
                               (stream->disposition & AV_DISPOSITION_DEFAULT ? 5000000 : 0);
    if (track == 0 ? score <= best : number != track) continue;
    best = score;
    stream_ = stream;
    track_ = number;
  }
  if (tracks_.empty())
    return fail(Fault::corrupt, std::string("holds no audio (FFmpeg takes it for ") + context_->iformat->name + ", " +
                                    std::to_string(context_->nb_streams) + " streams)");
  if (!stream_)
    return fail(Fault::unsupported,
                "has no audio track " + std::to_string(track) + ": expected " + field("track") + " 1" +
                    (tracks_.size() > 1 ? " to " + std::to_string(tracks_.size()) : ", its only one"),
                "Name another track, or leave " + field("track") + " out");
  stream_->discard = AVDISCARD_DEFAULT;
  return {};
}

bool FfmpegInput::may_be_chained() const {
  return is_format("ogg");
}

bool FfmpegInput::has_clock() const {
  constexpr std::string_view kClocked[] = {"matroska", "mov", "mpegts", "mpeg", "flv", "live_flv", "asf",
                                           "ogg",      "nut", "mxf",    "rm",   "wtv", "gxf",      "flac"};
  const std::string_view name = context_->iformat->name;
  return std::ranges::find(kClocked, name.substr(0, name.find(','))) != std::end(kClocked);
}

/// ASF has one length, which is the picture's, too.
bool FfmpegInput::is_lent() const {
  const auto is_other = [&](const AVStream* stream) { return stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO; };
  return is_format("asf") && std::any_of(context_->streams, context_->streams + context_->nb_streams, is_other);
}

std::optional<std::int64_t> FfmpegInput::promised_ticks() const {
  const auto index = static_cast<std::size_t>(stream_->index);
  if (index >= header_lengths_.size() || header_lengths_[index] == AV_NOPTS_VALUE || is_lent()) return {};
  if (is_format("mp3") && mp3_is_whole(bytes_)) return {};
  if (!may_be_chained() || stream_->codecpar->codec_id != AV_CODEC_ID_OPUS || stream_->start_time == AV_NOPTS_VALUE)
    return header_lengths_[index];
  // As the length of Opus that was cut out of a longer stream FFmpeg gives the clock at its end.
  return header_lengths_[index] - std::max<std::int64_t>(stream_->start_time, 0);
}

int FfmpegInput::read(void* self, std::uint8_t* out, int size) {
  auto& input = *static_cast<FfmpegInput*>(self);
  const auto got =
      input.bytes_.read_at(input.offset_, {reinterpret_cast<std::byte*>(out), static_cast<std::size_t>(size)});
  if (!got) return AVERROR(EIO);
  if (*got == 0) return AVERROR_EOF;
  input.offset_ += static_cast<std::int64_t>(*got);
  return static_cast<int>(*got);
}

std::int64_t FfmpegInput::seek(void* self, std::int64_t offset, int whence) {
  auto& input = *static_cast<FfmpegInput*>(self);
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return input.bytes_.size();
    case SEEK_SET: break;
    case SEEK_CUR: offset += input.offset_; break;
    case SEEK_END: offset += input.bytes_.size(); break;
    default: return AVERROR(EINVAL);
  }
  if (offset < 0) return AVERROR(EINVAL);
  return input.offset_ = offset;
}

}  // namespace tutti
