#include "prepare/synthetic/morse_folder.h"

#include <fcntl.h>

#include <array>
#include <cstdio>
#include <utility>

#include "audio/augment/augmentation.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/try.h"
#include "prepare/synthetic/corpus_folder.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetadataHeader = "id,audio_file,text,contest_type,sample_type,wpm,condition,duration\n";
constexpr std::array<const char*, 3> kSplits{"train", "validation", "test"};
constexpr std::array<const char*, 3> kFolders{"audio", "transcripts", "splits"};

/// A clip that is on disk, and its line.
struct Written {
  std::string line;
  std::string name;
  std::string text;
  bool is_noise = false;
  Seconds length{};
};

std::string morse_id_of(std::int64_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "morse_%06lld", static_cast<long long>(index));
  return text;
}

void append_letters(const KeyedWord& word, std::vector<Word>& out) {
  for (std::size_t i = 0; i < word.symbols.size(); ++i)
    out.push_back({(i == 0 ? " " : "") + word.text.substr(i, 1), word.symbols[i].start, word.symbols[i].end, 1});
}

/// The words, or their letters, with their times, as one segment.
Transcript transcript_of(const MorseClip& clip, bool letter_times) {
  Transcript transcript{clip.text, {}, "en"};
  if (clip.words.empty()) return transcript;
  Segment segment;
  segment.start = clip.words.front().start;
  segment.end = clip.words.back().end;
  segment.text = " " + clip.text;
  for (const KeyedWord& word : clip.words) {
    if (letter_times)
      append_letters(word, segment.words);
    else
      segment.words.push_back({" " + word.text, word.start, word.end, 1});
  }
  transcript.segments.push_back(std::move(segment));
  return transcript;
}

/// What a receiver of that rate keeps of a clip.
std::vector<std::int16_t> at_rate(std::vector<std::int16_t> pcm, Hertz rate) {
  if (rate == kModelRate) return pcm;
  return changed(std::move(pcm), {.speed = static_cast<double>(kModelRate.value) / rate.value});
}

/// Files of one clip. The texts hold neither commas nor quotes, so the lines need none.
Result<Written> write_clip(const MorseFolder& wanted, std::int64_t index) {
  MorseClip clip = morse_clip(wanted.corpus, index);
  const Seconds length = clip.length();
  const std::string id = morse_id_of(index);
  const std::string name = id + (wanted.format == AudioFormat::flac ? ".flac" : ".wav");
  const auto pcm = at_rate(std::move(clip.pcm), wanted.rate);
  TRY(write_audio(wanted.out / "audio" / name, pcm, wanted.format, wanted.rate));
  const fs::path times = wanted.out / "transcripts" / (id + ".json");
  const OwnedFd file(::open(times.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return fail_errno(times.string(), "cannot be written");
  const std::string json = transcript_json(transcript_of(clip, wanted.letter_times));
  TRY(write_all(file.get(), std::as_bytes(std::span(json)), times.string()));
  char facts[96];
  std::snprintf(facts, sizeof facts, ",%d,%s,%.4f\n", clip.wpm, std::string(name_of(clip.condition)).c_str(),
                length.count());
  return Written{id + "," + name + "," + clip.text + "," + clip.contest + "," + clip.kind + facts, name, clip.text,
                 clip.text.empty(), length};
}

/// The lists that grow clip by clip, in order.
class Lists {
 public:
  void add(const Written& clip) {
    metadata_ += clip.line;
    const std::int64_t index = (clip.is_noise ? noises_++ : texts_++) % 10;
    const std::size_t split = index < 8 ? 0 : index == 8 ? 1 : 2;
    splits_[split] += clip.line;
    transcripts_[split] += clip.name + "|" + clip.text + "\n";
    ++report_.clips;
    report_.audio += clip.length;
  }
  Result<void> write(const fs::path& out) const {
    for (std::size_t i = 0; i < kSplits.size(); ++i) {
      const std::string name = kSplits[i];
      TRY(write_file_atomically(out / "splits" / (name + ".csv"), splits_[i]));
      TRY(write_file_atomically(out / "splits" / (name + "_transcripts.txt"), transcripts_[i]));
    }
    return write_file_atomically(out / "metadata.csv", metadata_);  // last: with it the corpus is whole
  }
  const MorseFolderReport& report() const { return report_; }

 private:
  std::string metadata_ = kMetadataHeader;
  std::array<std::string, 3> splits_{kMetadataHeader, kMetadataHeader, kMetadataHeader};
  std::array<std::string, 3> transcripts_{};
  std::int64_t texts_ = 0, noises_ = 0;
  MorseFolderReport report_{};
};

/// The clips, then the lists that make them a corpus.
Result<MorseFolderReport> write_clips(const MorseFolder& wanted) {
  const auto since = Clock::real().now();
  Lists lists;
  TRY(make_in_order<Written>(
      wanted.count, wanted.threads, [&](std::int64_t index) { return write_clip(wanted, index); },
      [&](const Written& clip) { lists.add(clip); }));
  TRY(lists.write(wanted.out));
  MorseFolderReport report = lists.report();
  report.spent = Clock::real().now() - since;
  return report;
}

}  // namespace

Result<MorseFolderReport> write_morse_folder(const MorseFolder& wanted) {
  MorseFolderReport report;
  TRY(write_corpus({wanted.out, kFolders, "metadata.csv"}, [&]() -> Result<void> {
    report = TRY(write_clips(wanted));
    return {};
  }));
  return report;
}

}  // namespace tutti
