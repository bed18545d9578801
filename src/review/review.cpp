#include "review/review.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <tuple>

#include "audio/peaks.h"
#include "audio/recording.h"
#include "audio/vad/speech.h"
#include "base/files.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/try.h"
#include "device/machine.h"
#include "diarize/speaker_names.h"
#include "jobs/object_outputs.h"
#include "transcript/like_python.h"
#include "transcript/transcript.h"
#include "view/markup.h"
#include "view/text.h"

namespace tutti {
namespace {

/// What came of one transcript.
struct Examined {
  std::optional<ReviewRecording> doubtful{};         // none: nothing to listen to
  std::optional<ReviewConversation> conversation{};  // none: the transcript names no speakers
  bool has_vad = false;                              // examined with where speech is
  bool without_speech = false;                       // the transcript has no text
};

constexpr std::size_t kColumns = 320;      // columns of a waveform
constexpr Seconds kAround{4};              // shown before and after a finding
constexpr Seconds kLongestPicture{90};     // a longer finding shows its start
constexpr std::size_t kMostPictures = 12;  // pictures of one recording

/// Finer than for a transcription: pauses between sentences matter here, and text is compared with them.
VadOptions hearing() {
  return {.min_speech_duration_ms = 250, .min_silence_duration_ms = 300, .speech_pad_ms = 100};
}

Result<std::vector<SpeechSegment>> detect_speech(const Recording& recording) {
  const auto pieces = TRY(find_speech(recording, hearing()));
  std::vector<SpeechSegment> speech;
  for (const SpeechPiece& piece : pieces)
    speech.push_back({length_of(piece.start, kModelRate).count(), length_of(piece.end, kModelRate).count()});
  return speech;
}

/// The recording, where there is one that can be decoded.
std::optional<Recording> decoded(const ReviewInput& input, const ReviewOptions& options) {
  if (input.recording.empty()) return std::nullopt;
  auto recording = decode_recording(
      input.recording, [&](Seconds) { return !options.stopped || !options.stopped(); }, {}, options.audio);
  if (recording) return std::move(*recording);
  if (recording.error().fault != Fault::cancelled) log(Level::warning, recording.error().text());
  return std::nullopt;
}

void add_picture(ReviewFinding& finding, const Recording& recording) {
  finding.wave_start = std::max(Seconds(0), finding.start - kAround);
  finding.wave_end = std::min({recording.duration(), finding.end + kAround, finding.wave_start + kLongestPicture});
  if (finding.wave_end <= finding.wave_start) return;
  if (auto peaks = peaks_of(recording, finding.wave_start, finding.wave_end, kColumns))
    finding.peaks = std::move(*peaks);
}

/// The recording as the page, which is in `out`, can reach it.
std::string url_from(const std::filesystem::path& out, const std::filesystem::path& recording) {
  if (is_object(out)) return {};  // no address leads from a bucket to this machine
  std::error_code ignored;
  const auto from = std::filesystem::weakly_canonical(std::filesystem::absolute(out), ignored);
  return url_of_path(std::filesystem::absolute(recording).lexically_normal().lexically_relative(from).string());
}

std::string name_for(const ReviewInput& input) {
  if (!input.name.empty()) return input.name;
  return (input.recording.empty() ? input.transcript : input.recording).filename().string();
}

ReviewRecording listed(const ReviewInput& input, const std::vector<Doubt>& doubts, const ReviewOptions& options) {
  ReviewRecording entry{.name = name_for(input), .transcript = input.transcript.string()};
  if (!input.recording.empty()) entry.audio = url_from(options.out, input.recording);
  entry.doubt = doubtfulness(doubts);
  for (const Doubt& doubt : doubts)
    entry.findings.push_back({.kind = std::string(name_of(doubt.kind)),
                              .start = Seconds(std::max(0.0, doubt.start)),
                              .end = Seconds(std::max(doubt.start, doubt.end)),
                              .severity = doubt.severity,
                              .reason = doubt.reason,
                              .excerpt = doubt.excerpt});
  return entry;
}

/// Segments of one speaker in a row, unless there is a pause between them.
std::optional<ReviewConversation> conversation_of(const ReviewInput& input, const Transcript& transcript,
                                                  const std::filesystem::path& out) {
  constexpr double kPause = 2;           // seconds
  constexpr std::size_t kExcerpt = 160;  // characters
  ReviewConversation found{.name = name_for(input), .transcript = input.transcript.string()};
  found.speakers = speakers_of(transcript);
  if (found.speakers.empty()) return std::nullopt;
  if (!input.recording.empty()) found.audio = url_from(out, input.recording);
  for (const Segment& segment : transcript.segments) {
    if (segment.speaker.empty() || !(segment.end > segment.start)) continue;
    const auto speaker =
        static_cast<std::size_t>(std::ranges::find(found.speakers, segment.speaker) - found.speakers.begin());
    const Seconds start(std::max(0.0, segment.start)), end(segment.end);
    const bool goes_on = !found.turns.empty() && found.turns.back().speaker == speaker &&
                         start - found.turns.back().end <= Seconds(kPause);
    if (!goes_on) found.turns.push_back({.start = start, .end = end, .speaker = speaker});
    ReviewTurn& turn = found.turns.back();
    turn.end = std::max(turn.end, end);
    turn.excerpt += segment.text;
  }
  for (ReviewTurn& turn : found.turns) turn.excerpt = strip(fitted(strip(turn.excerpt), kExcerpt));
  return found;
}

/// Looks at one transcript. A recording that cannot be decoded only costs its speech and its picture.
Result<Examined> examine(const ReviewInput& input, const ReviewOptions& options) {
  const auto text = TRY(options.read ? options.read(input.transcript) : read_file(input.transcript));
  const auto transcript = read_transcript_json(text);
  if (!transcript) return fail_in(input.transcript.string(), transcript.error());

  std::optional<Recording> recording;
  auto speech = input.speech;
  if (!speech && options.listen && (recording = decoded(input, options)))
    if (auto has_vad = detect_speech(*recording)) speech = std::move(*has_vad);

  auto doubts = find_doubts(*transcript, speech, options.limits);
  std::erase_if(doubts, [&](const Doubt& doubt) { return doubt.severity < options.least_severity; });
  Examined examined{.has_vad = speech.has_value(), .without_speech = !has_text(*transcript)};
  examined.conversation = conversation_of(input, *transcript, options.out);
  if (doubts.empty()) return examined;

  if (!recording) recording = decoded(input, options);
  examined.doubtful = listed(input, doubts, options);
  if (!recording) return examined;
  examined.doubtful->length = recording->duration();
  auto& findings = examined.doubtful->findings;
  for (std::size_t i = 0; i < std::min(findings.size(), kMostPictures); ++i) add_picture(findings[i], *recording);
  return examined;
}

/// What all threads put their answers into.
struct Gathered {
  ReviewList list;
  std::optional<Error> first_error{};

  std::size_t done() const { return list.looked_at + list.not_read.size(); }
};

void keep_first_conversations(ReviewList& list) {
  std::ranges::sort(list.conversations, {},
                    [](const ReviewConversation& one) { return std::tie(one.name, one.transcript); });
  if (list.conversations.size() > kMostConversations) list.conversations.resize(kMostConversations);
}

void take_in(Gathered& gathered, Result<Examined> examined) {
  ReviewList& list = gathered.list;
  if (examined) {
    ++list.looked_at;
    list.without_audio += examined->has_vad ? 0 : 1;
    list.without_speech += examined->without_speech ? 1 : 0;
    if (examined->conversation) {
      ++list.with_speakers;
      list.conversations.push_back(std::move(*examined->conversation));
    }
    if (list.conversations.size() > 2 * kMostConversations) keep_first_conversations(list);
    if (examined->doubtful) list.recordings.push_back(std::move(*examined->doubtful));
  } else {
    list.not_read.push_back(examined.error().text());
    if (!gathered.first_error) gathered.first_error = examined.error();
  }
}

bool is_stopped(const ReviewOptions& options) {
  return options.stopped && options.stopped();
}

tl::unexpected<Error> stopped_review() {
  return fail(Fault::cancelled, "the review was stopped", "'tutti review' makes it later");
}

/// The recording with the surest finding first; among equals the one with more of them.
void sort_worst_first(ReviewList& list) {
  std::sort(list.recordings.begin(), list.recordings.end(), [](const ReviewRecording& a, const ReviewRecording& b) {
    const double worst_a = a.findings.front().severity, worst_b = b.findings.front().severity;
    if (worst_a != worst_b) return worst_a > worst_b;
    return a.doubt != b.doubt ? a.doubt > b.doubt : a.name < b.name;
  });
  std::sort(list.not_read.begin(), list.not_read.end());
  keep_first_conversations(list);
}

}  // namespace

Result<ReviewList> write_review(std::span<const ReviewInput> inputs, const ReviewOptions& options) {
  Guarded<Gathered> gathered;
  {
    std::atomic<std::size_t> next = 0;
    const int wanted = options.threads > 0 ? options.threads : read_cpu().cores;
    std::vector<std::jthread> threads;
    for (int i = std::min(wanted, static_cast<int>(inputs.size())); i > 0; --i)
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < inputs.size(); at = next++) {
          auto examined = is_stopped(options) ? Result<Examined>(stopped_review()) : examine(inputs[at], options);
          gathered.change([&](Gathered& all) { take_in(all, std::move(examined)); });
        }
      });
    for (std::size_t reported = 0; reported < inputs.size();) {
      reported = gathered.wait([&](const Gathered& all) { return all.done() > reported; },
                               [](const Gathered& all) { return all.done(); });
      if (options.on_progress) options.on_progress(reported);
    }
  }
  if (is_stopped(options)) return stopped_review();
  Gathered all = gathered.with([](Gathered& it) { return std::move(it); });
  if (all.list.looked_at == 0 && all.first_error) return tl::unexpected(*all.first_error);
  sort_worst_first(all.list);
  auto written = options.write(options.out / kReviewPages[0], review_csv(all.list));
  if (written) written = options.write(options.out / kReviewPages[1], review_html(all.list));
  TRY(written);
  return std::move(all.list);
}

}  // namespace tutti
