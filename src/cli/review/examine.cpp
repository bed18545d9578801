#include "cli/review/examine.h"

#include <algorithm>

#include "audio/peaks.h"
#include "audio/recording.h"
#include "audio/vad/speech.h"
#include "base/files.h"
#include "base/log.h"
#include "transcript/transcript.h"
#include "view/markup.h"

namespace tutti {
namespace {

constexpr std::size_t kColumns = 320;      // of a waveform
constexpr Seconds kAround{4};              // shown before and after a finding
constexpr Seconds kLongestPicture{90};     // a longer finding shows its start
constexpr std::size_t kMostPictures = 12;  // of one recording

/// Finer than for a transcription: pauses between sentences matter here, and text is compared with them.
VadOptions hearing() {
  return {.min_speech_duration_ms = 250, .min_silence_duration_ms = 300, .speech_pad_ms = 100};
}

Result<std::vector<SpeechSegment>> detect_speech(const Recording& recording) {
  const auto pieces = find_speech(recording, hearing());
  if (!pieces) return tl::unexpected(pieces.error());
  std::vector<SpeechSegment> speech;
  for (const SpeechPiece& piece : *pieces)
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

}  // namespace

Result<Examined> examine(const ReviewInput& input, const ReviewOptions& options) {
  const auto text = read_file(input.transcript);
  if (!text) return tl::unexpected(text.error());
  const auto transcript = read_transcript_json(*text);
  if (!transcript) return fail_in(input.transcript.string(), transcript.error());

  std::optional<Recording> recording;
  auto speech = input.speech;
  if (!speech && options.detect_speech && (recording = decoded(input, options)))
    if (auto has_vad = detect_speech(*recording)) speech = std::move(*has_vad);

  auto doubts = find_doubts(*transcript, speech, options.limits);
  std::erase_if(doubts, [&](const Doubt& doubt) { return doubt.severity < options.least_severity; });
  Examined examined{.has_vad = speech.has_value(), .without_speech = !has_text(*transcript)};
  if (doubts.empty()) return examined;

  if (!recording) recording = decoded(input, options);
  examined.doubtful = listed(input, doubts, options);
  if (!recording) return examined;
  examined.doubtful->length = recording->duration();
  auto& findings = examined.doubtful->findings;
  for (std::size_t i = 0; i < std::min(findings.size(), kMostPictures); ++i) add_picture(findings[i], *recording);
  return examined;
}

}  // namespace tutti
