#include "feed/labelled/audio_geometry.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/json.h"
#include "base/try.h"
#include "feed/feature_cache.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr Hertz kLeakRate{4096};
constexpr std::int64_t kLeakClip = 10 * kLeakRate.value, kLeakLong = 1024, kLeakShort = 512;

constexpr double kFrameSeconds = 0.032, kHopSeconds = 0.020;
constexpr std::int64_t kMostFrames = 128;
constexpr double kClipRange = 80;  // decibels below the loudest value of a clip: what padding holds is no outlier

Result<std::int64_t> whole(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number())
    return fail(Fault::corrupt, std::string("config_json: expected a number '") + key + "'");
  return static_cast<std::int64_t>(std::llround(found->get<double>()));
}

/// The hop that puts `count` segments evenly into `all` samples.
std::int64_t even_hop(std::int64_t all, std::int64_t segment, std::int64_t count) {
  return count > 1 ? (all - segment) / (count - 1) : segment;
}

/// Where a short segment begins in its clip.
std::int64_t start_of(const AudioGeometry& g, std::int64_t segment) {
  return segment / g.shorts * g.long_hop + segment % g.shorts * g.short_hop;
}

}  // namespace

std::int64_t AudioGeometry::frames() const {
  return short_samples < mel.n_fft ? 0 : (short_samples - mel.n_fft) / mel.hop + 1;
}

AudioGeometry leak_geometry() {
  return {.name = "leak",
          .clip_samples = kLeakClip,
          .longs = kLeakClip / kLeakLong,
          .long_samples = kLeakLong,
          .long_hop = kLeakLong,
          .shorts = kLeakLong / kLeakShort,
          .short_samples = kLeakShort,
          .short_hop = kLeakShort,
          .mel = {.rate = kLeakRate, .n_fft = 512, .hop = 128, .n_mels = 64, .power = 1, .top_db = 0}};
}

AudioGeometry overlapping_leak_geometry() {
  auto geometry = leak_geometry();
  geometry.name = "leak-overlap";
  geometry.long_hop = kLeakLong / 2;
  geometry.longs = (kLeakClip - kLeakLong) / geometry.long_hop + 1;
  geometry.short_hop = kLeakShort / 2;
  geometry.shorts = (kLeakLong - kLeakShort) / geometry.short_hop + 1;
  geometry.mel.n_mels = 32;
  return geometry;
}

AudioGeometry clip_geometry(Hertz rate, Seconds length, int n_mels) {
  const auto samples = std::max<std::int64_t>(samples_in(length, rate), 64);
  const auto wanted = static_cast<unsigned>(std::max(16.0, kFrameSeconds * rate.value));
  auto n_fft = 1 << (std::bit_width(wanted + wanted / 3) - 1);
  auto hop = static_cast<std::int64_t>(std::llround(kHopSeconds * rate.value));
  hop = std::max(hop, samples / kMostFrames);
  while (n_fft < hop) n_fft *= 2;  // a frame misses nothing of what is between two
  while (n_fft > samples) n_fft /= 2;
  const int usual_mels = rate.value <= 8000 ? 32 : rate.value <= 16000 ? 40 : 64;
  return {.clip_samples = samples,
          .long_samples = samples,
          .long_hop = samples,
          .short_samples = samples,
          .short_hop = samples,
          .mel = {.rate = rate,
                  .n_fft = n_fft,
                  .hop = static_cast<int>(hop),
                  .n_mels = n_mels > 0 ? n_mels : usual_mels,
                  .power = 1,
                  .top_db = kClipRange}};
}

Result<void> check(const AudioGeometry& g) {
  const auto in_clip = (g.longs - 1) * g.long_hop + g.long_samples;
  const auto in_long = (g.shorts - 1) * g.short_hop + g.short_samples;
  const bool positive = g.longs > 0 && g.shorts > 0 && g.long_hop > 0 && g.short_hop > 0 && g.mel.n_mels > 0;
  const bool fits = in_clip <= g.clip_samples && in_long <= g.long_samples;
  const bool has_fft = g.mel.n_fft >= 4 && std::has_single_bit(static_cast<unsigned>(g.mel.n_fft)) && g.mel.hop > 0;
  if (!positive || !fits)
    return fail(Fault::usage, "geometry: the segments end at sample " + std::to_string(in_clip) + " of a clip of " +
                                  std::to_string(g.clip_samples));
  if (!has_fft || g.frames() < 1 || g.mel.rate.value < 1)
    return fail(Fault::usage, "geometry: a segment of " + std::to_string(g.short_samples) +
                                  " samples has no frame of " + std::to_string(g.mel.n_fft) +
                                  " (n_fft, a power of two)");
  return {};
}

std::string show_geometry(const AudioGeometry& g) {
  const double rate = g.mel.rate.value;
  Json json{{"sample_rate", g.mel.rate.value},
            {"duration_sec", g.seconds().count()},
            {"long_window", g.long_samples},
            {"short_window", g.short_samples},
            {"n_mels", g.mel.n_mels},
            {"n_fft", g.mel.n_fft},
            {"hop_length", g.mel.hop},
            {"power", g.mel.power},
            {"long_scale_sec", static_cast<double>(g.long_samples) / rate},
            {"short_points", g.short_samples},
            {"center", false},
            {"top_db", g.mel.top_db},
            {"long_hop", g.long_hop},
            {"short_hop", g.short_hop},
            {"clip_samples", g.clip_samples},
            {"preset", g.name}};
  if (g.mel.linear) json["linear"] = true;
  return json.dump();
}

Result<AudioGeometry> read_geometry(std::string_view text, std::int64_t longs, std::int64_t shorts) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(Fault::corrupt, "config_json: expected a JSON object");
  std::vector<std::int64_t> values;
  for (const char* key : {"sample_rate", "long_window", "short_window", "n_mels", "n_fft", "hop_length"}) {
    const auto value = TRY(whole(json, key));
    values.push_back(value);
  }
  AudioGeometry g{.name = json.value("preset", std::string("leak")),
                  .longs = longs,
                  .long_samples = values[1],
                  .shorts = shorts,
                  .short_samples = values[2],
                  .mel = {.rate = Hertz{static_cast<int>(values[0])},
                          .n_fft = static_cast<int>(values[4]),
                          .hop = static_cast<int>(values[5]),
                          .n_mels = static_cast<int>(values[3]),
                          .power = json.value("power", 1.0),
                          .top_db = json.value("top_db", 0.0),
                          .linear = json.value("linear", false)}};
  const auto by_seconds = static_cast<std::int64_t>(std::llround(json.value("duration_sec", 0.0) * g.mel.rate.value));
  g.clip_samples = json.value("clip_samples", by_seconds);
  g.long_hop = json.value("long_hop", even_hop(g.clip_samples, g.long_samples, longs));
  g.short_hop = json.value("short_hop", even_hop(g.long_samples, g.short_samples, shorts));
  if (auto checked = check(g); !checked) return fail(Fault::corrupt, "config_json: " + checked.error().what);
  return g;
}

std::vector<float> segments_of(const AudioGeometry& g, std::span<const float> samples) {
  const auto held = std::min(std::ssize(samples), g.clip_samples);
  std::vector<float> segments;
  segments.reserve(static_cast<std::size_t>(g.waveform_values()));
  for (std::int64_t segment = 0; segment < g.segments(); ++segment) {
    const auto first = std::min(start_of(g, segment), held), last = std::min(first + g.short_samples, held);
    segments.insert(segments.end(), samples.begin() + first, samples.begin() + last);
    segments.resize(static_cast<std::size_t>((segment + 1) * g.short_samples));  // zeros behind a short clip
  }
  return segments;
}

std::vector<float> clip_of(const AudioGeometry& g, std::span<const float> segments) {
  std::vector<float> clip(static_cast<std::size_t>(g.clip_samples));
  for (std::int64_t segment = 0; segment < g.segments(); ++segment)
    std::copy_n(segments.begin() + segment * g.short_samples, g.short_samples, clip.begin() + start_of(g, segment));
  return clip;
}

ClipFeatures ClipFeatureMaker::compute(std::span<const float> samples) const {
  const auto& g = geometry_;
  const auto clip = static_cast<std::size_t>(g.clip_samples), segment = static_cast<std::size_t>(g.short_samples);
  ClipFeatures features{
      .waveform = segments_of(g, samples), .is_cut = samples.size() > clip, .is_padded = samples.size() < clip};
  std::vector<float> mel(static_cast<std::size_t>(g.values()));
  mel_.compute(features.waveform, segment, mel);
  features.mel.reserve(mel.size());
  for (const float value : mel) features.mel.push_back(to_half(value));
  return features;
}

}  // namespace tutti
