#include "audio/ffmpeg/aac.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "audio/ffmpeg/api.h"
#include "base/try.h"

namespace tutti {
namespace {

struct Free {
  const FfmpegApi* api;
  void operator()(AVCodecContext* context) const { api->avcodec_free_context(&context); }
  void operator()(AVFrame* frame) const { api->av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { api->av_packet_free(&packet); }
};

/// By their numbers in ADTS.
constexpr std::array kRates{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000};

/// The header of a frame (ISO/IEC 13818-7): AAC-LC, one channel, without a checksum.
std::string adts_header(std::size_t payload, unsigned rate_number) {
  constexpr unsigned kLowComplexity = 1, kMono = 1, kHeader = 7;
  const auto length = static_cast<unsigned>(payload) + kHeader;
  const std::array<unsigned, kHeader> bytes{0xFF,
                                            0xF1,
                                            kLowComplexity << 6U | rate_number << 2U | kMono >> 2U,
                                            (kMono & 3U) << 6U | length >> 11U,
                                            length >> 3U & 0xFFU,
                                            (length & 7U) << 5U | 0x1FU,
                                            0xFC};
  std::string header;
  for (const unsigned byte : bytes) header += static_cast<char>(byte);
  return header;
}

class AacEncoder {
 public:
  AacEncoder(const FfmpegApi& api, Hertz rate, unsigned rate_number)
      : api_(api), rate_(rate), rate_number_(rate_number) {}

  Result<std::string> encode(std::span<const std::int16_t> pcm) {
    TRY(open());
    const auto block = static_cast<std::size_t>(context_->frame_size);
    for (std::size_t at = 0; at < pcm.size(); at += block)
      TRY(send(pcm.subspan(at, std::min(block, pcm.size() - at)), at));
    if (const int code = api_.avcodec_send_frame(context_.get(), nullptr); code < 0) return failed(code);
    TRY(take());
    return std::move(bytes_);
  }

 private:
  tl::unexpected<Error> failed(int code) const {
    return fail(Fault::unsupported, "cannot be made AAC: " + api_.reason(code));
  }

  Result<void> open() {
    constexpr int kBitsASecond = 64000;
    const AVCodec* encoder = api_.avcodec_find_encoder(AV_CODEC_ID_AAC);
    if (!encoder) return fail(Fault::unsupported, "this machine's FFmpeg has no encoder for AAC");
    context_.reset(api_.avcodec_alloc_context3(encoder));
    context_->sample_rate = rate_.value;
    context_->sample_fmt = AV_SAMPLE_FMT_FLTP;
    context_->bit_rate = kBitsASecond;
    constexpr AVChannelLayout kMono = AV_CHANNEL_LAYOUT_MONO;
    context_->ch_layout = kMono;
    if (const int code = api_.avcodec_open2(context_.get(), encoder, nullptr); code < 0) return failed(code);
    return {};
  }

  Result<void> send(std::span<const std::int16_t> pcm, std::size_t at) {
    const std::unique_ptr<AVFrame, Free> frame(api_.av_frame_alloc(), Free{&api_});
    frame->format = AV_SAMPLE_FMT_FLTP;
    frame->ch_layout = context_->ch_layout;
    frame->sample_rate = rate_.value;
    frame->nb_samples = context_->frame_size;
    frame->pts = static_cast<std::int64_t>(at);
    if (const int code = api_.av_frame_get_buffer(frame.get(), 0); code < 0) return failed(code);
    constexpr float kScale = 32768;
    const std::span out(reinterpret_cast<float*>(frame->data[0]), static_cast<std::size_t>(frame->nb_samples));
    std::ranges::fill(out, 0.0F);  // the last one ends in silence
    std::ranges::transform(pcm, out.begin(), [](std::int16_t sample) { return static_cast<float>(sample) / kScale; });
    if (const int code = api_.avcodec_send_frame(context_.get(), frame.get()); code < 0) return failed(code);
    return take();
  }

  Result<void> take() {
    for (;;) {
      const int code = api_.avcodec_receive_packet(context_.get(), packet_.get());
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return {};
      if (code < 0) return failed(code);
      const auto size = static_cast<std::size_t>(packet_->size);
      bytes_ += adts_header(size, rate_number_);
      bytes_.append(reinterpret_cast<const char*>(packet_->data), size);
      api_.av_packet_unref(packet_.get());
    }
  }

  const FfmpegApi& api_;
  const Hertz rate_;
  const unsigned rate_number_;
  std::unique_ptr<AVCodecContext, Free> context_{nullptr, Free{&api_}};
  std::unique_ptr<AVPacket, Free> packet_{api_.av_packet_alloc(), Free{&api_}};
  std::string bytes_{};
};

}  // namespace

Result<std::string> aac_bytes(std::span<const std::int16_t> pcm, Hertz rate) {
  const auto found = std::ranges::find(kRates, rate.value);
  if (found == kRates.end())
    return fail(Fault::unsupported, "cannot be made AAC: it has no rate of " + std::to_string(rate.value) + " Hz");
  const auto api = TRY(FfmpegApi::load());
  return AacEncoder(*api, rate, static_cast<unsigned>(found - kRates.begin())).encode(pcm);
}

}  // namespace tutti
