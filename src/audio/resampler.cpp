#include "audio/resampler.h"

#include <algorithm>
#include <cmath>

#include "audio/channel_mix.h"
#include "base/try.h"

namespace tutti {
namespace {

// Far beyond the rates of real audio. The filter grows with the rate: a damaged header of 2 GHz would keep swr_init
// busy for minutes; one of 1 Hz would need gigabytes of samples.
constexpr Hertz kLowest{100}, kHighest{1'000'000};

bool is_model_pcm(const AudioBlock& block) {
  const bool s16 = block.format == AV_SAMPLE_FMT_S16 || block.format == AV_SAMPLE_FMT_S16P;
  return s16 && block.rate == kModelRate && block.layout->nb_channels == 1;
}

}  // namespace

/// One libswresample context and the input format it was made for.
struct Resampler::Conversion {
  explicit Conversion(const ResamplerApi& functions) : api(functions) {}
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;
  ~Conversion() {
    api.swr_free(&context);
    api.av_channel_layout_uninit(&layout);
  }

  bool fits(const AudioBlock& block) const {
    return block.format == format && block.rate == rate && api.av_channel_layout_compare(block.layout, &layout) == 0;
  }

  Result<void> open(const AudioBlock& block, const AudioChoice& choice);
  /// Starts again with the same filter, which costs more to make than a short recording takes to convert.
  Result<void> reopen();

  const ResamplerApi& api;
  SwrContext* context = nullptr;
  AVChannelLayout layout{};  // as the block named it
  AVSampleFormat format = AV_SAMPLE_FMT_NONE;
  Hertz rate{};
  std::vector<double> weights{};  // weights of the channels in the mix
  std::int64_t frames_in = 0;
  std::int64_t samples_out = 0;
  bool is_finished = false;
};

Result<void> Resampler::Conversion::reopen() {
  frames_in = samples_out = 0;
  is_finished = false;
  const int code = api.swr_init(context);
  return code >= 0 ? Result<void>{} : fail(Fault::internal, "libswresample failed: " + api.reason(code));
}

Result<void> Resampler::Conversion::open(const AudioBlock& block, const AudioChoice& choice) {
  format = block.format;
  rate = block.rate;
  api.av_channel_layout_copy(&layout, block.layout);
  const int channels = layout.nb_channels;
  auto mix = TRY(channel_mix(api, layout, choice));
  weights = std::move(mix.weights);
  AVChannelLayout known{};
  if (!mix.is_usual)
    known = {.order = AV_CHANNEL_ORDER_UNSPEC, .nb_channels = channels, .u = {}, .opaque = nullptr};
  else if (layout.order == AV_CHANNEL_ORDER_NATIVE && channels > 1)
    api.av_channel_layout_copy(&known, &layout);
  else
    api.av_channel_layout_default(&known, channels);  // mono and stereo, whatever they are called
  AVChannelLayout mono{};
  api.av_channel_layout_default(&mono, 1);
  int code = api.swr_alloc_set_opts2(&context, &mono, AV_SAMPLE_FMT_S16, kModelRate.value, &known, format, rate.value,
                                     0, nullptr);
  if (code >= 0 && !mix.is_usual) code = api.swr_set_matrix(context, weights.data(), channels);
  if (code >= 0) code = api.swr_init(context);
  api.av_channel_layout_uninit(&known);
  if (code >= 0) return {};
  return fail(Fault::unsupported, "cannot convert " + std::to_string(channels) + " channels at " +
                                      std::to_string(rate.value) + " Hz to 16 kHz mono: " + api.reason(code));
}

Resampler::Resampler(TakePcm take, AudioChoice choice, ChannelLoudness* loudness)
    : take_(std::move(take)), choice_(choice), loudness_(loudness) {}
Resampler::~Resampler() = default;

Result<void> Resampler::start(const AudioBlock& block) {
  if (block.rate < kLowest || block.rate > kHighest)
    return fail(Fault::corrupt, "claims " + std::to_string(block.rate.value) + " samples a second; expected " +
                                    std::to_string(kLowest.value) + " to " + std::to_string(kHighest.value));
  const auto api = TRY(ResamplerApi::load());
  conversion_ = std::make_unique<Conversion>(*api);
  return conversion_->open(block, choice_);
}

Result<void> Resampler::push(const AudioBlock& block) {
  if (is_model_pcm(block) && choice_.channel <= 1) {
    conversion_.reset();
    return take_({reinterpret_cast<const std::int16_t*>(block.planes[0]), static_cast<std::size_t>(block.frames)});
  }
  if (!conversion_ || !conversion_->fits(block)) {
    if (auto started = start(block); !started) return started;
  }
  if (conversion_->is_finished) {
    if (auto again = conversion_->reopen(); !again) return again;
  }
  if (loudness_) loudness_->add(block, conversion_->weights);
  conversion_->frames_in += block.frames;
  return convert(block.planes, block.frames);
}

Result<void> Resampler::push_silence(const AudioBlock& like, std::int64_t frames) {
  constexpr std::int64_t kAtOnce = 1 << 14;
  const bool is_unsigned = like.format == AV_SAMPLE_FMT_U8 || like.format == AV_SAMPLE_FMT_U8P;
  const auto channels = static_cast<std::size_t>(like.layout->nb_channels);
  const auto samples = static_cast<std::size_t>(std::min(frames, kAtOnce)) * channels;
  const std::vector<std::uint8_t> zeros(samples * sizeof(double), is_unsigned ? 0x80 : 0);  // fits the widest samples
  const std::vector<const std::uint8_t*> planes(channels, zeros.data());
  AudioBlock block{like.format, like.rate, like.layout, planes.data(), 0};
  for (std::int64_t left = frames; left > 0; left -= block.frames) {
    block.frames = static_cast<int>(std::min(left, kAtOnce));
    if (auto pushed = push(block); !pushed) return pushed;
  }
  return {};
}

Result<void> Resampler::convert(const std::uint8_t* const* planes, int frames) {
  Conversion& it = *conversion_;
  const double out = static_cast<double>(frames) * kModelRate.value / it.rate.value;
  const std::int64_t held = it.api.swr_get_delay(it.context, kModelRate.value);
  const std::int64_t capacity = static_cast<std::int64_t>(out * 2) + 4096 + std::max<std::int64_t>(held, 0);
  pcm_.resize(static_cast<std::size_t>(capacity));
  auto* to = reinterpret_cast<std::uint8_t*>(pcm_.data());
  // The cast: libswresample's parameter became pointer-to-const only in FFmpeg 6.
  const int got =
      it.api.swr_convert(it.context, &to, static_cast<int>(capacity), const_cast<const std::uint8_t**>(planes), frames);
  if (got < 0) return fail(Fault::internal, "libswresample failed: " + it.api.reason(got));
  it.samples_out += got;
  return got == 0 ? Result<void>{} : take_({pcm_.data(), static_cast<std::size_t>(got)});
}

Result<void> Resampler::finish() {
  if (!conversion_ || conversion_->is_finished) return {};
  auto flushed = convert(nullptr, 0);
  if (flushed && conversion_->samples_out == 0) flushed = rescue_short_audio();
  conversion_->is_finished = true;
  return flushed;
}

/// libswresample (and so the ffmpeg program) gives nothing at all for audio shorter than half its filter. What little
/// there was becomes the silence of its length, so that a file with audio never turns into one without.
Result<void> Resampler::rescue_short_audio() {
  const Conversion& it = *conversion_;
  const auto length = std::llround(static_cast<double>(it.frames_in) * kModelRate.value / it.rate.value);
  pcm_.assign(static_cast<std::size_t>(std::max(length, 1LL)), 0);
  return take_(pcm_);
}

}  // namespace tutti
