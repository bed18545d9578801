#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/audio_choice.h"
#include "base/error.h"
#include "base/output_ownership.h"
#include "transcript/doubt/doubt.h"
#include "view/review.h"

namespace tutti {

/// What write_review() writes: a table and a page with players.
inline constexpr std::array<const char*, 2> kReviewPages{"review.csv", "review.html"};

/// A finished transcript and what it was made of.
struct ReviewInput {
  std::filesystem::path transcript;   // any JSON that read_transcript_json understands
  std::filesystem::path recording{};  // empty: not known; examined by the text alone, and without a player
  std::string name{};                 // for people; empty: the recording's, else the transcript's file name
  /// Where speech was found, if a run knows it already; none: it is detected here.
  std::optional<std::vector<SpeechSegment>> speech{};
};

struct ReviewOptions {
  std::filesystem::path out;    // folder of review.csv and review.html
  double least_severity = 0.5;  // findings below are left out
  bool listen = true;           // decode recordings to find their speech; false: the text alone, waveforms all the same
  int threads = 0;              // recordings looked at together; 0: one per core
  DoubtLimits limits{};
  AudioChoice audio{};              // which track and channel of each recording
  std::function<bool()> stopped{};  // polled, from any thread: true ends it with Fault::cancelled
  /// Reads a transcript, by any thread; none: it is a file.
  std::function<Result<std::string>(const std::filesystem::path& transcript)> read{};
  /// Writes a page.
  std::function<Result<void>(const std::filesystem::path& page, std::string_view content)> write{};
  std::function<void(std::size_t done)> on_progress{};  // by the calling thread, now and then and at the end
};

/// Looks at every transcript, finds what is doubtful, and writes DIR/review.csv and DIR/review.html, each whole. A
/// transcript that cannot be read is a line of the list; the Result fails when none can be, or nothing can be written.
/// Decodes each recording once, in child processes (thousands of times real time per core). Memory: the findings and
/// one transcript per thread. Blocks.
Result<ReviewList> write_review(std::span<const ReviewInput> inputs, const ReviewOptions& options);

/// Files as named, and the .json files below folders, in order. Fault::missing for a folder that has none.
Result<std::vector<std::filesystem::path>> find_transcripts(const std::vector<std::string>& names);

/// Each transcript with its recording, which RecordingIndex finds below `audio_root`; empty: beside the transcript.
std::vector<ReviewInput> review_inputs(const std::vector<std::filesystem::path>& transcripts,
                                       const std::filesystem::path& audio_root);

/// Checks that none of the pages in `out` would be written onto a transcript or a recording.
Result<OutputOwnership> claim_review_pages(const std::vector<ReviewInput>& inputs, const std::filesystem::path& out);

/// The list as one line of JSON, version 1: what was looked at, each recording with its findings, and conversations
/// with their speakers. Names keep their bytes.
std::string review_json(const ReviewList& list);

}  // namespace tutti
