#include <algorithm>

#include "base/random/counter_random.h"
#include "feed/source/layouts.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

/// A recording that was transcribed: its text and the times of it lie in the transcript.
class Transcripts final : public Dataset {
 public:
  struct Pair {
    std::filesystem::path audio;
    std::filesystem::path transcript;
  };
  Transcripts(std::filesystem::path folder, std::vector<Pair> pairs)
      : folder_(std::move(folder)), pairs_(std::move(pairs)) {}

  std::int64_t size() const override { return std::ssize(pairs_); }
  std::uint64_t fingerprint() const override {
    std::uint64_t hash = pairs_.size();
    for (const Pair& pair : pairs_) hash = mixed({hash, digest(pair.transcript.lexically_relative(folder_).string())});
    return hash;
  }
  std::string id(std::int64_t index) const override {
    std::filesystem::path name = pair(index).audio.lexically_relative(folder_);
    return name.replace_extension().string();
  }
  Result<DatasetLine> at(std::int64_t index) const override {
    DatasetLine sample;
    sample.id = id(index);
    sample.audio = pair(index).audio;
    sample.times = pair(index).transcript;
    return sample;
  }

 private:
  const Pair& pair(std::int64_t index) const { return pairs_[static_cast<std::size_t>(index)]; }

  std::filesystem::path folder_;
  std::vector<Pair> pairs_;
};

/// talk.mp3 for talk.mp3.json, for talk.json a recording of that name; empty: there is none.
std::filesystem::path audio_beside(std::filesystem::path transcript) {
  std::error_code ignored;
  const std::filesystem::path named = transcript.replace_extension();
  if (is_recording(named) && std::filesystem::exists(named, ignored)) return named;
  for (const std::string_view ending : recording_endings()) {
    std::filesystem::path audio = named;
    if (std::filesystem::exists(audio += ending, ignored)) return audio;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_transcripts(const std::filesystem::path& folder) {
  std::vector<Transcripts::Pair> pairs;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator entry(folder, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() != ".json") continue;
    auto audio = audio_beside(entry->path());
    if (!audio.empty()) pairs.push_back({std::move(audio), entry->path()});
  }
  if (failed) return fail(Fault::missing, folder.string() + ": cannot be listed: " + failed.message());
  if (pairs.empty())
    return fail(Fault::missing,
                folder.string() + ": holds no metadata.csv, and no recordings with JSON transcripts beside them");
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.audio < b.audio; });
  return std::make_unique<Transcripts>(folder, std::move(pairs));
}

}  // namespace tutti
