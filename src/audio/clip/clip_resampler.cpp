#include "audio/clip/clip.h"
#include "audio/resampler.h"

namespace tutti {

struct ClipResampler::Kept {
  std::vector<std::int16_t> pcm{};
  Resampler resampler{[this](std::span<const std::int16_t> part) -> Result<void> {
    pcm.insert(pcm.end(), part.begin(), part.end());
    return {};
  }};
};

ClipResampler::ClipResampler() = default;
ClipResampler::~ClipResampler() = default;
ClipResampler::ClipResampler(ClipResampler&&) noexcept = default;
ClipResampler& ClipResampler::operator=(ClipResampler&&) noexcept = default;

Result<std::vector<std::int16_t>> ClipResampler::convert(NativeClip clip) {
  const ClipFacts& facts = clip.facts;
  if (clip.format == AV_SAMPLE_FMT_S16 && facts.rate == kModelRate && facts.channels == 1)
    return std::move(clip.storage);
  constexpr std::size_t kMostKept = 8;
  const std::tuple key{clip.format, facts.rate.value, facts.channels};
  if (kept_.size() >= kMostKept && !kept_.contains(key)) kept_.clear();
  auto& kept = kept_[key];
  if (!kept) kept = std::make_unique<Kept>();
  kept->pcm.clear();
  kept->pcm.reserve(static_cast<std::size_t>(facts.frames * kModelRate.value / facts.rate.value + 64));

  constexpr AVChannelLayout kMono = AV_CHANNEL_LAYOUT_MONO, kStereo = AV_CHANNEL_LAYOUT_STEREO;
  AVChannelLayout layout = facts.channels == 1 ? kMono : kStereo;
  if (facts.channels > 2)
    layout = {.order = AV_CHANNEL_ORDER_UNSPEC, .nb_channels = facts.channels, .u = {}, .opaque = nullptr};
  const auto* plane = reinterpret_cast<const std::uint8_t*>(clip.storage.data());
  const auto pushed = kept->resampler.push(
      {static_cast<AVSampleFormat>(clip.format), facts.rate, &layout, &plane, static_cast<int>(facts.frames)});
  const auto done = pushed ? kept->resampler.finish() : pushed;
  if (!done) {
    kept_.erase(key);
    return tl::unexpected<Error>(done.error());
  }
  return std::move(kept->pcm);
}

}  // namespace tutti
