#include "prepare/synthetic/voice_folder.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "audio/synth/audio_file.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/dataset.h"
#include "text/normaliser.h"
#include "text/speech/flite.h"
#include "text/speech/front_end.h"
#include "text/speech/sentence_maker.h"
#include "text/text_encoding.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLabel = "synthetic: read by CMU flite 2.2, voice cmu_us_slt\n";

std::string voice_id_of(std::int64_t index) {
  char text[32];
  std::snprintf(text, sizeof text, "slt_%06lld", static_cast<long long>(index));
  return text;
}

/// The texts of a list of recordings such as LJSpeech's; they need not be there.
Result<std::vector<std::string>> texts_of_list(const fs::path& file) {
  const auto list = TRY(open_dataset(file, "", {}));
  if (const auto conclusion = list->conclusion(); !conclusion.empty()) log(Level::warning, conclusion);
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < list->size(); ++i)
    if (const auto text = list->text(i); text && !trimmed(*text).empty()) texts.emplace_back(trimmed(*text));
  return texts;
}

/// The texts of a file: a line each, or those of a list whose fields are parted by bars.
Result<std::vector<std::string>> lines_of(const fs::path& file) {
  const auto content = TRY(read_file(file));
  std::vector<std::string> lines;
  for (const auto line : split_lines(content))
    if (!trimmed(line).empty()) lines.emplace_back(trimmed(line));
  const auto rows = std::ranges::count_if(lines, [](const std::string& line) { return line.find('|') != line.npos; });
  return 2 * rows > std::ssize(lines) ? texts_of_list(file) : lines;
}

/// Words of CMUdict that a child could read, of usual length. None where it is not on the machine.
std::vector<std::string> rare_words() {
  constexpr std::size_t kShortest = 4, kLongest = 9;
  std::vector<std::string> words;
  const auto dictionary = read_file(cmudict_file());
  for (const auto line : dictionary ? split(*dictionary, '\n') : std::vector<std::string_view>()) {
    const auto word = line.substr(0, line.find(' '));
    if (word.size() >= kShortest && word.size() <= kLongest &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == word.npos)
      words.emplace_back(word);
  }
  return words;
}

/// The texts in their order: those given, then made ones without end. None that is excluded, none twice.
class Texts {
 public:
  static Result<Texts> open(const VoiceFolder& wanted) {
    Texts texts(wanted.seed);
    for (const auto& file : wanted.texts) {
      auto lines = TRY(lines_of(file));
      for (auto& line : lines) texts.given_.push_back(std::move(line));
    }
    if (wanted.exclude.empty()) return texts;
    const auto excluded = TRY(lines_of(wanted.exclude));
    for (const auto& line : excluded) texts.excluded_.insert(normalise_english(line));
    return texts;
  }

  /// The next text, and whether it was given.
  std::pair<std::string, bool> next() {
    while (true) {
      const bool is_given = at_ < given_.size();
      std::string text = is_given ? given_[at_++] : maker_.sentence(made_++);
      const auto key = normalise_english(text);
      if (excluded_.contains(key)) {
        ++left_out_;
        continue;
      }
      if (used_.insert(key).second) return {std::move(text), is_given};
    }
  }
  std::int64_t left_out() const { return left_out_; }

 private:
  explicit Texts(std::uint64_t seed) : maker_(seed, rare_words()) {}

  SentenceMaker maker_;
  std::vector<std::string> given_{};
  std::set<std::string> excluded_{};
  std::set<std::string> used_{};
  std::size_t at_ = 0;
  std::int64_t made_ = 0;
  std::int64_t left_out_ = 0;
};

std::string phones_line(const std::string& id, const FliteSpeech& speech) {
  nlohmann::ordered_json phones = nlohmann::ordered_json::array();
  for (const auto& phone : speech.phones) phones.push_back({phone.name, phone.end.count()});
  return json_line(nlohmann::ordered_json{{"id", id}, {"phones", phones}}) + "\n";
}

}  // namespace

Result<VoiceFolderReport> write_voice_folder(const VoiceFolder& wanted,
                                             const std::function<bool(Seconds, Seconds)>& progress) {
  const auto since = Clock::real().now();
  if (is_there(wanted.out / "metadata.csv"))
    return fail(Fault::usage, wanted.out.string() + ": holds a corpus already", "Name another folder, or remove it");
  const auto flite = TRY(Flite::load());
  auto texts = TRY(Texts::open(wanted));
  TRY(make_folders(wanted.out / "wavs"));
  VoiceFolderReport report;
  std::string metadata, phones;
  while (report.audio < wanted.length) {
    const auto [text, is_given] = texts.next();
    const auto speech = flite->speak(text);
    if (!speech && speech.error().fault == Fault::usage) continue;  // a line without a word
    if (!speech) return tl::unexpected<Error>(speech.error());
    const auto id = voice_id_of(report.clips);
    TRY(write_audio(wanted.out / "wavs" / (id + ".wav"), speech->pcm, AudioFormat::wav, speech->rate));
    metadata += id + "|" + text + "|" + text + "\n";
    phones += phones_line(id, *speech);
    ++report.clips;
    report.from_texts += is_given;
    report.audio += length_of(std::ssize(speech->pcm), speech->rate);
    if (!progress(report.audio, wanted.length)) return fail(Fault::cancelled, "interrupted");
  }
  report.excluded = texts.left_out();
  TRY(write_file_atomically(wanted.out / "label.txt", kLabel));
  TRY(write_file_atomically(wanted.out / "phones.jsonl", phones));
  TRY(write_file_atomically(wanted.out / "metadata.csv", metadata));  // last: with it the corpus is whole
  report.spent = Clock::real().now() - since;
  return report;
}

}  // namespace tutti
