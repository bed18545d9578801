#include "prepare/prepare_recording.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/try.h"
#include "base/units.h"
#include "prepare/text_aligner.h"
#include "transcribe/remote_windows.h"
#include "transcript/reference_text/spread_text.h"
#include "transcript/window_transcriber.h"

namespace tutti {
namespace {

/// The sentences of a text without times.
std::vector<TextUnit> laid_over(const std::string& plain, const Transcript& recognised, double seconds) {
  std::vector<Word> words;
  for (const Segment& segment : recognised.segments)
    words.insert(words.end(), segment.words.begin(), segment.words.end());
  std::vector<TextUnit> units;
  for (auto& sentence : spread_text(plain, words, seconds))
    units.push_back({.segment = std::move(sentence.segment), .is_sure = sentence.is_sure});
  return units;
}

/// Those that cannot be used are refused from the start: no sample holds their audio.
std::vector<TextUnit> timed_units(const KnownText& text) {
  std::vector<TextUnit> units;
  for (const Segment& segment : text.timed) units.push_back({.segment = segment});
  for (const auto& [segment, reason] : text.unusable) units.push_back({.segment = segment, .refused = reason});
  std::ranges::stable_sort(units, {}, [](const TextUnit& unit) { return unit.segment.start; });
  return units;
}

/// The recording's text with the times of its words, and its language.
class Alignment {
 public:
  Alignment(const KnownRecording& known, const TranscriptionContext& context, double least_score)
      : context_(context),
        least_score_(least_score),
        mels_(context.log_mel, known.recording, known.maximum),
        windows_(context.windows, mels_),
        input_(context.model) {
    input_.content_frames = LogMel::content_frames(known.recording);
  }

  Result<std::vector<TextUnit>> units(const KnownText& text) {
    TRY(settle());
    auto units = timed_units(text);
    if (text.timed.empty()) {
      const auto recognised = TRY(transcribe_long_form(input_, context_.windows.tokenizer, context_.rules, windows_,
                                                       [](const std::vector<Segment>&, std::int64_t) {}));
      units = laid_over(text.plain, recognised, static_cast<double>(input_.content_frames) / kFramesPerSecond);
    }
    const auto& tokenizer = context_.windows.tokenizer;
    const WordTimer timer(tokenizer, *context_.rules.words,
                          tokenizer.sot_sequence(language_, tokenizer.special().transcribe), language_,
                          input_.frames_per_window);
    TRY(TextAligner(tokenizer, timer, input_, least_score_).align(units, windows_));
    return units;
  }
  const std::string& language() const { return language_; }
  const TimeSpent& spent() const { return windows_.costs().spent; }
  double window() const { return static_cast<double>(input_.frames_per_window) / kFramesPerSecond; }

 private:
  Result<void> settle() {
    language_ = TRY(settle_language(context_.windows.tokenizer.special(), context_.rules,
                                    {.seek = 0, .frames = input_.frames_per_window}, windows_));
    return {};
  }

  const TranscriptionContext& context_;
  const double least_score_;
  RecordingMel mels_;
  RemoteWindows windows_;
  LongFormInput input_;
  std::string language_{};
};

}  // namespace

Result<KnownRecording> known_recording(const PrepareInput& input, const std::filesystem::path& texts,
                                       const LogMel& log_mel, const AudioChoice& audio, const OnDecoded& on_decoded) {
  const auto& path = input.path;
  const auto start = Clock::real().now();
  auto made_of = stamp_of_sources(input, texts);
  auto text = input.rows.empty() ? known_text(path, texts) : text_of_rows(input.rows);
  if (!text) return input.rows.empty() ? tl::unexpected(text.error()) : fail_in(path.string(), text.error());
  auto recording = TRY(decode_recording(path, on_decoded, {}, audio));
  if (!recording.losses().empty()) return fail(Fault::corrupt, path.string() + ": " + recording.losses().front());
  for (const auto& note : recording.notes()) log(Level::warning, path.string() + ": " + note);
  const auto maximum = TRY(log_mel.maximum(recording));
  return KnownRecording{.recording = std::move(recording),
                        .text = std::move(*text),
                        .maximum = maximum,
                        .made_of = std::move(made_of),
                        .decoding = Clock::real().now() - start};
}

Result<PreparedRecording> prepare_recording(KnownRecording known, const TranscriptionContext& context,
                                            const PrepareRules& rules) {
  Alignment alignment(known, context, rules.least_score);
  auto units = TRY(alignment.units(known.text));
  score_units(units, rules.least_score);
  const double window = std::min(rules.window.value_or(alignment.window()), alignment.window());
  auto pieces = cut_units(units, known.recording.duration().count(), window);
  PreparedRecording prepared{.recording = std::move(known.recording),
                             .language = alignment.language(),
                             .made_of = std::move(known.made_of),
                             .pieces = std::move(pieces),
                             .spent = alignment.spent()};
  prepared.spent.audio = known.decoding;
  std::ranges::copy_if(units, std::back_inserter(prepared.refused),
                       [](const TextUnit& u) { return !u.refused.empty(); });
  return prepared;
}

}  // namespace tutti
