#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "diarize/diarize_options.h"
#include "transcribe/events.h"
#include "transcribe/output_plan.h"

namespace tutti {

// What a run is reported as, for people and for programs.

/// "Replaced: 2 output files that were there before: a.txt, b.txt". Of many the first ten are named.
std::string replaced_text(std::span<const std::filesystem::path> files);
/// The closing lines: files, speed, where the time went, failures.
std::string summary_text(const RunSummary& summary);
/// The same as one JSON object.
std::string summary_json(const RunSummary& summary);

/// Takes a line with its end, or several.
using OnLine = std::function<void(const std::string& line)>;

/// Events as JSON, one object a line, each with "event": skipped, at once for every file that is
/// done already; ready, decoded, segment, done, failed. Must not outlive `files`.
std::unique_ptr<RunObserver> make_json_events(const std::vector<PlannedFile>& files, OnLine on_line);

/// The text with its times, in the order of the files: the first unfinished one as it comes, later ones wait for it.
/// Failures and damage are logged. Must not outlive `files`.
std::unique_ptr<RunObserver> make_text_lines(const std::vector<PlannedFile>& files, OnLine on_text);

/// Failures and damage alone, which are logged. Must not outlive `files`.
std::unique_ptr<RunObserver> make_log_lines(const std::vector<PlannedFile>& files);

/// The line of a dry run for one file: planned with its outputs; skipped where it is done already; failed, an event as
/// a run's, where `problem` is not empty.
std::string planned_json(const PlannedFile& file, const std::string& problem);

/// One line for a file that failed; its name comes first, once, whether or not the error brought it.
inline std::string failure_line(const std::filesystem::path& input, const Error& error) {
  const std::string name = name_of_input(input);
  return error.what.starts_with(name) ? error.text() : name + ": " + error.text();
}

/// "SPEAKER_00 1:02 (nearest SPEAKER_01, 0.12)": a line for each speaker, for people.
std::string speakers_text(const std::vector<SpeakerSummary>& speakers);

}  // namespace tutti
