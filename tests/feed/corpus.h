#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "audio/samples.h"
#include "base/random/counter_random.h"
#include "base/sha256.h"
#include "public/tutti/feed.h"
#include "support/temp_folder.h"

namespace tutti {

/// A tone under noise, different for each `number`.
inline std::vector<std::int16_t> audio_of(std::uint64_t number, std::int64_t samples) {
  CounterRandom random({7, number});
  const double step = random.uniform(0.05, 0.8);
  std::vector<std::int16_t> pcm;
  for (std::int64_t i = 0; i < samples; ++i)
    pcm.push_back(
        static_cast<std::int16_t>(6000 * std::sin(step * static_cast<double>(i)) + random.uniform(-500, 500)));
  return pcm;
}

/// A set of WAV files with a JSONL manifest, in a folder of its own: "s0", "s1", ... with texts "text 0", ...
class Corpus {
 public:
  /// One sample per entry of `seconds`. The manifest has durations only with `with_durations`.
  explicit Corpus(const std::vector<double>& seconds, bool with_durations = false, std::uint32_t rate = 16000) {
    std::string lines;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      std::string name = "s";
      name += std::to_string(i);
      write_wav(folder_ / (name + ".wav"), audio_of(i, std::llround(seconds[i] * rate)), rate);
      lines += R"({"id":")" + name + R"(","audio":")" + name + R"(.wav","text":"text )" + std::to_string(i) + '"';
      if (with_durations) lines += ",\"duration\":" + std::to_string(seconds[i]);
      lines += "}\n";
    }
    write(lines);
  }
  /// Rewrites the manifest with `durations`, whatever the files hold.
  void claim(const std::vector<double>& durations) {
    std::string lines;
    for (std::size_t i = 0; i < durations.size(); ++i) {
      const std::string name = "s" + std::to_string(i);
      lines += R"({"id":")" + name + R"(","audio":")" + name + R"(.wav","text":"x","duration":)" +
               std::to_string(durations[i]) + "}\n";
    }
    write(lines);
  }
  void write(const std::string& lines) { (void)write_file_atomically(manifest(), lines); }
  std::filesystem::path manifest() const { return folder_ / "set.jsonl"; }
  std::filesystem::path file(std::size_t i) const { return folder_ / ("s" + std::to_string(i) + ".wav"); }
  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
};

/// `count` lengths from 0.3 to 3 s.
inline std::vector<double> mixed_lengths(std::size_t count) {
  CounterRandom random(99);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) seconds.push_back(random.uniform(0.3, 3));
  return seconds;
}

/// Options for small sets: batches of 4.
inline FeedOptions options_for(const std::filesystem::path& data) {
  FeedOptions options;
  options.data = data;
  options.batch_size = 4;
  options.look_ahead = 16;
  return options;
}

inline Feed opened(FeedOptions options) {
  auto feed = Feed::open(std::move(options));
  if (!feed) throw std::runtime_error(feed.error().text());
  return std::move(*feed);
}

/// All that is left in a feed.
inline std::vector<Batch> drained(Feed& feed) {
  std::vector<Batch> batches;
  for (;;) {
    auto batch = feed.next();
    if (!batch) throw std::runtime_error(batch.error().text());
    if (!*batch) return batches;
    batches.push_back(std::move(**batch));
  }
}
inline std::vector<Batch> all_batches(FeedOptions options) {
  Feed feed = opened(std::move(options));
  return drained(feed);
}

inline std::vector<std::string> ids_of(const std::vector<Batch>& batches) {
  std::vector<std::string> ids;
  for (const Batch& batch : batches)
    for (const BatchSample& sample : batch.samples) ids.push_back(sample.id);
  return ids;
}

/// A digest of everything a batch holds.
inline std::string digest_of(const Batch& batch) {
  Sha256 hash;
  const std::int64_t shape[] = {batch.index, batch.epoch, batch.size(), batch.frames};
  hash.update(std::as_bytes(std::span(shape)));
  hash.update(std::as_bytes(
      std::span(batch.mel().data(), static_cast<std::size_t>(batch.size() * batch.n_mels * batch.frames))));
  for (const BatchSample& sample : batch.samples) {
    const std::string facts = sample.id + "|" + sample.text + "|" + std::to_string(sample.frames) + "\n";
    hash.update(std::as_bytes(std::span(facts)));
  }
  return hash.hex();
}
inline std::vector<std::string> digests_of(const std::vector<Batch>& batches) {
  std::vector<std::string> digests;
  for (const Batch& batch : batches) digests.push_back(digest_of(batch));
  return digests;
}

}  // namespace tutti
