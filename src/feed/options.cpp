#include "feed/options.h"

#include <bit>
#include <string>

#include "base/numbers.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

struct Bound {
  const char* name;
  double value;
  double least, most;
};

std::uint64_t digest_of(std::initializer_list<double> numbers) {
  std::uint64_t hash = 0;
  for (const double number : numbers) hash = mixed({hash, std::bit_cast<std::uint64_t>(number)});
  return hash;
}

std::uint64_t digest_of(const Augmentation& it) {
  const SpecAugment& spectrum = it.spectrum;
  return mixed({digest_of({it.speed_share, it.speed.least, it.speed.most, it.gain_share, it.gain_db.least,
                           it.gain_db.most, it.noise_share, it.noise_db.least, it.noise_db.most, it.room_share,
                           it.room_seconds.least, it.room_seconds.most}),
                digest_of({static_cast<double>(spectrum.band_count), static_cast<double>(spectrum.band_width),
                           static_cast<double>(spectrum.stretch_count), static_cast<double>(spectrum.stretch_width),
                           spectrum.stretch_share})});
}

/// What has to be so for a set to be packed once and gathered from in every epoch.
Result<void> check_resident(const FeedOptions& options) {
  if (options.resident.where == Residence::stream) return {};
  if (options.cache.folder.empty())
    return fail(Fault::usage, "the feed: a set is packed in the cache's folder, and there is none", "Name one");
  if (options.augmentation.touches_audio() || options.chunking == Chunking::random || options.as_audio)
    return fail(
        Fault::usage,
        "the feed: a packed set has the same features in every epoch; speed, room, noise, gain and pieces drawn "
        "again are not possible with it, nor is audio",
        "Leave them out (masks may stay), or stream");
  return {};
}

}  // namespace

Result<void> check(const FeedOptions& options) {
  constexpr double kMany = 1e9;
  for (const Bound& bound : {
           Bound{"the batch size", static_cast<double>(options.batch_size), 1, 1 << 16},
           Bound{"the look-ahead", static_cast<double>(options.look_ahead), 1, 1 << 20},
           Bound{"the number of mel bins", static_cast<double>(options.n_mels), 1, 200},
           Bound{"the window in seconds", options.window.count(), 0.1, 3600},
           Bound{"the audio of a batch in seconds", options.batch_audio.count(), 0, kMany},
           Bound{"the multiple of frames", static_cast<double>(options.frame_multiple), 1, 3000},
           Bound{"the number of epochs", static_cast<double>(options.epochs), 0, kMany},
           Bound{"the most samples", static_cast<double>(options.max_samples), 0, 1e15},
           Bound{"the number of ranks", static_cast<double>(options.ranks), 1, 1 << 20},
           Bound{"the rank", static_cast<double>(options.rank), 0, static_cast<double>(options.ranks - 1)},
           Bound{"the batches kept ready", static_cast<double>(options.ready), 1, 1 << 16},
       }) {
    if (bound.value >= bound.least && bound.value <= bound.most) continue;
    return fail(Fault::usage, std::string("the feed: expected ") + bound.name + " from " + number_text(bound.least) +
                                  " to " + number_text(bound.most) + ", found " + number_text(bound.value));
  }
  if (options.as_audio && !options.cache.folder.empty())
    return fail(Fault::usage, "the feed: a cache of features cannot be used where a device computes them",
                "Leave one of the two: the cache, or the device for features");
  if (auto checked = check_resident(options); !checked) return checked;
  const FeedThreads& threads = options.threads;
  for (const int count :
       {threads.probe, threads.read, threads.decode, threads.resample, threads.augment, threads.features})
    if (count < 1 || count > 1024)
      return fail(Fault::usage, "the feed: expected 1 to 1024 threads for each stage, found " + std::to_string(count));
  return {};
}

std::uint64_t fingerprint_of(const FeedOptions& options, std::uint64_t set) {
  const auto whole = [](auto value) { return static_cast<std::uint64_t>(value); };
  const bool is_rounded = !options.cache.folder.empty();  // features come in half precision then
  const auto all = mixed({set, digest(options.split), whole(is_rounded), whole(options.max_samples), options.seed,
                          whole(options.shuffle), whole(options.rank), whole(options.ranks), whole(options.n_mels),
                          digest_of({options.window.count(), options.batch_audio.count()}), whole(options.padding),
                          whole(options.chunking), whole(options.frame_multiple), whole(options.batch_size),
                          whole(options.look_ahead), digest_of(options.augmentation)});
  return options.keyed_tone ? mixed({all, 1}) : all;
}

}  // namespace tutti
