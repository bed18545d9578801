#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "audio/audio_source.h"
#include "audio/ffmpeg/input.h"
#include "audio/timeline.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {
namespace {

/// Time stamps that jump by more than this are a hole in the recording, not a rounding of the container.
constexpr Seconds kHole{0.1};
/// Lossy encoders add up to this much at both ends, and a header may or may not count it.
constexpr Seconds kPadding{0.25};

/// A decoder that has its last packet and still gives errors instead of an end is stuck.
constexpr int kMostErrorsAtEnd = 100;

struct FreeCodec {
  const FfmpegApi* api;
  void operator()(AVCodecContext* codec) const { api->avcodec_free_context(&codec); }
};
struct FreePacket {
  const FfmpegApi* api;
  void operator()(AVPacket* packet) const { api->av_packet_free(&packet); }
};
struct FreeFrame {
  const FfmpegApi* api;
  void operator()(AVFrame* frame) const { api->av_frame_free(&frame); }
};

class FfmpegSource final : public AudioSource {
 public:
  FfmpegSource(const FfmpegApi& api, std::unique_ptr<FfmpegInput> input, AudioRemarks& remarks)
      : api_(api),
        input_(std::move(input)),
        losses_(remarks.losses),
        notes_(remarks.notes),
        timeline_(rules_of(*input_->context())) {}
  FfmpegSource(const FfmpegSource&) = delete;
  FfmpegSource& operator=(const FfmpegSource&) = delete;
  ~FfmpegSource() override;

  Result<void> open_decoder();
  Result<bool> next(AudioBlock& block) override;
  std::optional<AudioPromise> promised() const override;
  Seconds lead() const override { return timeline_.lead(); }

 private:
  static TimelineRules rules_of(const AVFormatContext& context);
  bool feed();
  Seconds silence_before();
  void note_hole(Seconds start);
  bool end();
  void note(const std::string& what) { losses_.add(at_, what); }
  void capture_log();
  AVStream* stream() const { return input_->stream(); }
  bool is_pcm() const {
    return codec_->codec_id >= AV_CODEC_ID_FIRST_AUDIO && codec_->codec_id < AV_CODEC_ID_ADPCM_IMA_QT;
  }

  const FfmpegApi& api_;
  std::unique_ptr<FfmpegInput> input_;
  Losses& losses_;
  Losses& notes_;
  Timeline timeline_;
  std::unique_ptr<AVCodecContext, FreeCodec> codec_{nullptr, FreeCodec{&api_}};
  std::unique_ptr<AVPacket, FreePacket> packet_{nullptr, FreePacket{&api_}};
  std::unique_ptr<AVFrame, FreeFrame> frame_{nullptr, FreeFrame{&api_}};
  Seconds at_{0};  // sound delivered so far, silence included
  int first_rate_ = 0;
  std::optional<Seconds> expected_{};  // time stamp at which the next frame should start
  bool at_end_ = false;
  bool is_reported_ = false;
  int errors_at_end_ = 0;
};

/// Our decoder and demuxer report what they skip in the log, and nowhere else.
struct Listener {
  const void* demuxer = nullptr;
  const void* decoder = nullptr;
  Losses* losses = nullptr;
  const Seconds* at = nullptr;
};
thread_local Listener listener;

void on_log(void* about, int level, const char* format, va_list args) {
  if (level > AV_LOG_ERROR || !listener.losses || !about) return;
  if (about != listener.demuxer && about != listener.decoder) return;
  char text[256];
  std::vsnprintf(text, sizeof text, format, args);
  text[std::strcspn(text, "\n")] = '\0';
  listener.losses->add(*listener.at, std::string(about == listener.decoder ? "decoder: " : "container: ") + text);
}

FfmpegSource::~FfmpegSource() {
  listener = {};
}

Result<void> FfmpegSource::open_decoder() {
  const AVCodec* decoder = api_.avcodec_find_decoder(stream()->codecpar->codec_id);
  const std::string name = api_.avcodec_get_name(stream()->codecpar->codec_id);
  if (!decoder)
    return fail(Fault::unsupported, "FFmpeg has no decoder for its audio (" + name + ")",
                "Install an FFmpeg that was built with one, or convert the file to WAV or FLAC");
  codec_.reset(api_.avcodec_alloc_context3(decoder));
  packet_.reset(api_.av_packet_alloc());
  frame_.reset(api_.av_frame_alloc());
  if (!codec_ || !packet_ || !frame_) return fail(Fault::exhausted, "out of memory while opening the decoder");
  int code = api_.avcodec_parameters_to_context(codec_.get(), stream()->codecpar);
  if (code < 0) return fail(Fault::corrupt, "the " + name + " stream's description is broken: " + api_.reason(code));
  codec_->pkt_timebase = stream()->time_base;
  codec_->thread_count = 1;  // files are decoded side by side, each in its own process
  // These two only log a wrong checksum and decode on, as the ffmpeg program would; others change what they decode.
  if (codec_->codec_id == AV_CODEC_ID_FLAC || codec_->codec_id == AV_CODEC_ID_MP3)
    codec_->err_recognition |= AV_EF_CRCCHECK;
  code = api_.avcodec_open2(codec_.get(), decoder, nullptr);
  if (code < 0) return fail(Fault::corrupt, "the " + name + " decoder did not open: " + api_.reason(code));
  return {};
}

void FfmpegSource::capture_log() {
  listener = {input_->context(), codec_.get(), &losses_, &at_};
  api_.av_log_set_callback(on_log);
}

/// Gives the decoder the next packet of our stream, or the end. False once the end was given.
bool FfmpegSource::feed() {
  if (at_end_) return false;
  for (;;) {
    const int code = api_.av_read_frame(input_->context(), packet_.get());
    if (code < 0) {
      if (code != AVERROR_EOF) note("the container cannot be read on: " + api_.reason(code));
      at_end_ = true;
      api_.avcodec_send_packet(codec_.get(), nullptr);
      return true;
    }
    const bool ours = packet_->stream_index == stream()->index && packet_->size > 0;  // some only carry a new header
    if (ours) {
      // Plain PCM comes in packets of any size; whether the last one is whole follows from the header's count.
      if ((packet_->flags & AV_PKT_FLAG_CORRUPT) && !is_pcm()) note("a packet is cut short or damaged");
      const int before = losses_.count();
      const int sent = api_.avcodec_send_packet(codec_.get(), packet_.get());
      if (sent < 0 && losses_.count() == before) note("a packet could not be decoded: " + api_.reason(sent));
    }
    api_.av_packet_unref(packet_.get());
    if (ours) return true;
  }
}

TimelineRules FfmpegSource::rules_of(const AVFormatContext& context) {
  const auto seconds = [](std::int64_t ticks) { return Seconds(static_cast<double>(ticks) / AV_TIME_BASE); };
  TimelineRules rules{.may_restart = (context.iformat->flags & AVFMT_TS_DISCONT) != 0};
  if (context.start_time != AV_NOPTS_VALUE) rules.start = seconds(context.start_time);
  if (context.duration > 0) rules.end = rules.start.value_or(Seconds(0)) + seconds(context.duration);
  return rules;
}

/// Where time stamps are only counted up, a hole cannot be trusted as far as to fill it.
void FfmpegSource::note_hole(Seconds start) {
  if (!expected_ || start - *expected_ <= kHole) return;
  note(fixed_text((start - *expected_).count(), 1) + " s of sound are missing (the time stamps jump)");
}

Seconds FfmpegSource::silence_before() {
  if (first_rate_ == 0) first_rate_ = frame_->sample_rate;
  const bool is_first = frame_->sample_rate == first_rate_;
  if (!is_first && input_->may_be_chained()) timeline_.stop();  // another stream, in units of the first one
  const Seconds length = length_of(frame_->nb_samples, Hertz{frame_->sample_rate});
  const AVRational tick = stream()->time_base;
  std::optional<Seconds> start;
  if (frame_->best_effort_timestamp != AV_NOPTS_VALUE)
    start = Seconds(static_cast<double>(frame_->best_effort_timestamp) * tick.num / tick.den);
  if (input_->has_clock()) return timeline_.silence_before(start, length);
  if (start && is_first) note_hole(*start);
  expected_ = start ? std::optional(*start + length) : std::nullopt;
  return Seconds(0);
}

Result<bool> FfmpegSource::next(AudioBlock& block) {
  capture_log();
  for (;;) {
    const int before = losses_.count();
    const int code = api_.avcodec_receive_frame(codec_.get(), frame_.get());
    if (code == AVERROR_EOF) return end();
    if (code == AVERROR(ENOMEM)) return fail(Fault::exhausted, "the decoder ran out of memory");
    if (code < 0) {
      const bool broken = code != AVERROR(EAGAIN);
      if (broken && losses_.count() == before) note("a frame could not be decoded: " + api_.reason(code));
      if (!feed() && (!broken || ++errors_at_end_ > kMostErrorsAtEnd)) return end();
      continue;
    }
    if (frame_->nb_samples <= 0 || frame_->sample_rate <= 0) continue;
    if (frame_->decode_error_flags || (frame_->flags & AV_FRAME_FLAG_CORRUPT)) note("a frame was decoded with errors");
    const Seconds silence = silence_before();
    block = {static_cast<AVSampleFormat>(frame_->format),
             Hertz{frame_->sample_rate},
             &frame_->ch_layout,
             frame_->extended_data,
             frame_->nb_samples,
             silence};
    at_ += silence + length_of(frame_->nb_samples, block.rate);
    return true;
  }
}

/// There is no more.
bool FfmpegSource::end() {
  if (!std::exchange(is_reported_, true)) timeline_.report(losses_, notes_);
  return false;
}

std::optional<AudioPromise> FfmpegSource::promised() const {
  const auto ticks = input_->promised_ticks();
  if (!ticks || *ticks <= 0) return {};
  const Seconds length(static_cast<double>(*ticks) * stream()->time_base.num / stream()->time_base.den);
  return AudioPromise{length, codec_->codec_id == AV_CODEC_ID_FLAC || is_pcm() ? Seconds(0) : kPadding};
}

}  // namespace

Result<std::unique_ptr<AudioSource>> open_with_ffmpeg(ByteSource& bytes, const std::string& name, int track,
                                                      AudioRemarks& remarks) {
  const auto api = TRY(FfmpegApi::load());
  api->av_log_set_callback(on_log);
  listener = {};
  auto input = TRY(FfmpegInput::open(*api, bytes, name, track));
  remarks.track = input->track();
  remarks.tracks = input->tracks();
  auto source = std::make_unique<FfmpegSource>(*api, std::move(input), remarks);
  TRY(source->open_decoder());
  return source;
}

}  // namespace tutti
