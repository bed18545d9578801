#include <charconv>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/new_file.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/keyed_lines.h"
#include "feed/source/layouts.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A recording, and the stretch of it that is an utterance; without one all of it.
struct Utterance {
  std::string recording{};
  std::optional<double> start{};
  std::optional<double> end{};
};

std::optional<double> seconds_in(std::string_view text) {
  double seconds = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(seconds) : std::nullopt;
}

/// "RECORDING START END"; an end of -1 is that of the recording.
Result<Utterance> utterance_of(std::string_view segment) {
  std::vector<std::string_view> parts;
  for (const auto part : split(segment, ' '))
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  const auto start = parts.size() == 3 ? seconds_in(parts[1]) : std::nullopt,
             end = parts.size() == 3 ? seconds_in(parts[2]) : std::nullopt;
  if (!start || !end || *start < 0)
    return fail(Fault::corrupt, "segments: expected a recording, its start and its end in seconds, found '" +
                                    std::string(segment) + "'");
  Utterance found{.recording = std::string(parts[0])};
  if (*start == 0 && *end < 0) return found;
  found.start = start;
  found.end = end;
  return found;
}

class KaldiFolder final : public Dataset {
 public:
  KaldiFolder(fs::path folder, KeyedLines recordings, KeyedLines texts)
      : folder_(std::move(folder)), recordings_(std::move(recordings)), texts_(std::move(texts)) {}

  /// Reads what else is in the folder.
  Result<void> add_rest();

  std::int64_t size() const override { return texts_.size(); }
  std::string id(std::int64_t index) const override { return std::string(texts_.key(index)); }
  std::string origin(std::int64_t index) const override {
    return (folder_ / "text").string() + ":" + std::to_string(texts_.number(index));
  }
  std::uint64_t fingerprint() const override {
    const auto of = [](const std::optional<KeyedLines>& lines) { return lines ? lines->fingerprint() : 0; };
    return mixed({recordings_.fingerprint(), texts_.fingerprint(), of(segments_), of(speakers_)});
  }
  std::string conclusion() const override;
  Result<DatasetLine> at(std::int64_t index) const override;
  Result<std::string> text(std::int64_t index) const override { return std::string(texts_.value(index)); }

 private:
  Result<Utterance> utterance(std::string_view key) const;
  Result<std::string> file_of(const std::string& recording) const;

  fs::path folder_;
  KeyedLines recordings_;
  KeyedLines texts_;
  std::optional<KeyedLines> segments_{};
  std::optional<KeyedLines> speakers_{};
};

Result<void> KaldiFolder::add_rest() {
  for (auto [lines, name] : {std::pair(&segments_, "segments"), {&speakers_, "utt2spk"}}) {
    if (!is_there(folder_ / name)) continue;
    auto read = TRY(KeyedLines::open(folder_ / name));
    *lines = std::move(read);
  }
  return {};
}

std::string KaldiFolder::conclusion() const {
  const std::int64_t spoken = segments_ ? segments_->size() : recordings_.size();
  if (spoken <= size()) return {};
  return folder_.string() + ": " + std::to_string(spoken - size()) + (segments_ ? " segments" : " recordings") +
         " more than lines of 'text'; what has no text there is no sample";
}

Result<Utterance> KaldiFolder::utterance(std::string_view key) const {
  if (!segments_) return Utterance{.recording = std::string(key)};
  const auto segment = segments_->find(key);
  if (!segment) return fail(Fault::missing, "segments has no line for it");
  return utterance_of(*segment);
}

/// The path that wav.scp has for a recording.
Result<std::string> KaldiFolder::file_of(const std::string& recording) const {
  const auto entry = recordings_.find(recording);
  if (!entry || entry->empty()) return fail(Fault::missing, "wav.scp has no line for '" + recording + "'");
  if (entry->ends_with('|')) return file_of_command(*entry);
  std::string named(*entry);
  TRY(expect_no_nul(named));
  return named;
}

Result<DatasetLine> KaldiFolder::at(std::int64_t index) const {
  const std::string_view key = texts_.key(index);
  auto spoken = TRY(utterance(key));
  auto named = TRY(file_of(spoken.recording));
  DatasetLine line{.id = std::string(key), .text = std::string(texts_.value(index)), .named = std::move(named)};
  line.audio = path_from_above(folder_, line.named);
  if (speakers_) line.speaker = std::string(speakers_->find(key).value_or(""));
  line.start = spoken.start;
  line.end = spoken.end;
  return line;
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_kaldi(const fs::path& folder) {
  auto recordings = TRY(KeyedLines::open(folder / "wav.scp"));
  auto texts = TRY(KeyedLines::open(folder / "text"));
  if (texts.size() == 0) return fail(Fault::corrupt, (folder / "text").string() + ": has no line");
  auto set = std::make_unique<KaldiFolder>(folder, std::move(recordings), std::move(texts));
  TRY(set->add_rest());
  return set;
}

}  // namespace tutti
