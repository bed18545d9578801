#include "audio/mono_audio.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "audio/ffmpeg/api.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr Hertz kLowest{100}, kHighest{1'000'000};  // as Resampler: a filter grows with the rate

template <class Sample>
void add_channels(const NativeClip& clip, double zero, double full, std::vector<float>& out) {
  const auto* bytes = reinterpret_cast<const std::byte*>(clip.storage.data());
  const auto channels = static_cast<std::size_t>(clip.facts.channels);
  const auto value_at = [&](std::size_t i) {
    Sample value;
    std::memcpy(&value, bytes + i * sizeof(Sample), sizeof(Sample));
    return static_cast<double>(value) - zero;
  };
  if (channels == 1 && sizeof(Sample) <= sizeof(std::int16_t)) {  // exact in float, and vectors hold twice as many
    const auto shift = static_cast<float>(zero), scale = static_cast<float>(1 / full);
    for (std::size_t frame = 0; frame < out.size(); ++frame) {
      Sample value;
      std::memcpy(&value, bytes + frame * sizeof(Sample), sizeof(Sample));
      out[frame] = (static_cast<float>(value) - shift) * scale;
    }
    return;
  }
  if (channels == 1) {  // the same as below, at several times the speed
    for (std::size_t frame = 0; frame < out.size(); ++frame) out[frame] = static_cast<float>(value_at(frame) / full);
    return;
  }
  for (std::size_t frame = 0; frame < out.size(); ++frame) {
    double sum = 0;
    for (std::size_t channel = 0; channel < channels; ++channel) sum += value_at(frame * channels + channel);
    out[frame] = static_cast<float>(sum / (full * static_cast<double>(channels)));
  }
}

}  // namespace

MonoAudio mono_mean(const NativeClip& clip) {
  MonoAudio audio{clip.facts.rate, std::vector<float>(static_cast<std::size_t>(clip.facts.frames))};
  constexpr double kFull8 = 128, kFull16 = 32768, kFull32 = 2147483648.0;
  switch (clip.format) {
    case AV_SAMPLE_FMT_U8: add_channels<std::uint8_t>(clip, kFull8, kFull8, audio.samples); break;
    case AV_SAMPLE_FMT_S16: add_channels<std::int16_t>(clip, 0, kFull16, audio.samples); break;
    case AV_SAMPLE_FMT_S32: add_channels<std::int32_t>(clip, 0, kFull32, audio.samples); break;
    default: add_channels<float>(clip, 0, 1, audio.samples); break;
  }
  return audio;
}

/// One libswresample context, and what it converts.
struct MonoResampler::Conversion {
  explicit Conversion(const ResamplerApi& functions) : api(functions) {}
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;
  ~Conversion() { api.swr_free(&context); }

  Result<void> open(Hertz rate_in, Hertz rate_out) {
    from = rate_in;
    to = rate_out;
    AVChannelLayout mono{};
    api.av_channel_layout_default(&mono, 1);
    const int code = api.swr_alloc_set_opts2(&context, &mono, AV_SAMPLE_FMT_FLT, to.value, &mono, AV_SAMPLE_FMT_FLT,
                                             from.value, 0, nullptr);
    return code < 0 ? failed(code) : Result<void>();
  }
  Result<void> failed(int code) const {
    return fail(Fault::unsupported, "cannot convert " + std::to_string(from.value) + " Hz to " +
                                        std::to_string(to.value) + " Hz: " + api.reason(code));
  }
  /// Appends what comes of `frames` at `in`; null: what the filter still holds.
  /// It changes the filter, if not its handle. NOLINTNEXTLINE(readability-make-member-function-const)
  Result<void> push(const float* in, int frames, std::vector<float>& out) {
    const auto before = out.size();
    const double most = 2.0 * frames * to.value / from.value + 8192;
    out.resize(before + static_cast<std::size_t>(most));
    auto* at = reinterpret_cast<std::uint8_t*>(out.data() + before);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
    const int got = api.swr_convert(context, &at, static_cast<int>(most), in ? &bytes : nullptr, frames);
    out.resize(before + static_cast<std::size_t>(std::max(got, 0)));
    return got < 0 ? failed(got) : Result<void>();
  }

  const ResamplerApi& api;
  SwrContext* context = nullptr;
  Hertz from{}, to{};
};

MonoResampler::MonoResampler() = default;
MonoResampler::~MonoResampler() = default;
MonoResampler::MonoResampler(MonoResampler&&) noexcept = default;
MonoResampler& MonoResampler::operator=(MonoResampler&&) noexcept = default;

Result<MonoAudio> MonoResampler::convert(MonoAudio audio, Hertz rate) {
  if (audio.rate == rate) return audio;
  if (audio.rate < kLowest || audio.rate > kHighest)
    return fail(Fault::corrupt, "claims " + std::to_string(audio.rate.value) + " samples a second; expected " +
                                    std::to_string(kLowest.value) + " to " + std::to_string(kHighest.value));
  if (!conversion_ || conversion_->from != audio.rate || conversion_->to != rate) {
    const auto api = TRY(ResamplerApi::load());
    auto conversion = std::make_unique<Conversion>(*api);
    TRY(conversion->open(audio.rate, rate));
    conversion_ = std::move(conversion);
  }
  if (const int code = conversion_->api.swr_init(conversion_->context); code < 0)
    return tl::unexpected<Error>(conversion_->failed(code).error());
  constexpr std::int64_t kAtOnce = 1 << 16;
  MonoAudio out{rate, {}};
  for (std::int64_t first = 0; first < std::ssize(audio.samples); first += kAtOnce) {
    const auto frames = static_cast<int>(std::min(kAtOnce, std::ssize(audio.samples) - first));
    TRY(conversion_->push(audio.samples.data() + first, frames, out.samples));
  }
  TRY(conversion_->push(nullptr, 0, out.samples));
  const double length = static_cast<double>(audio.samples.size()) * rate.value / audio.rate.value;
  out.samples.resize(static_cast<std::size_t>(std::llround(length)));
  return out;
}

}  // namespace tutti
