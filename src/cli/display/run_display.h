#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/recording.h"
#include "base/error.h"
#include "transcribe/events.h"
#include "transcribe/output_plan.h"

namespace tutti {

/// How a run is shown while it goes on.
enum class Display {
  live,   // one bar a file on the terminal
  plain,  // the text with its times, file by file in the order given
  json,   // one event a line
  quiet,  // nothing; errors still go to the log, and what was replaced is named at the end
};

/// An observer that shows the run. Text and events go to standard output, bars to standard error. Must not outlive
/// `files`.
std::unique_ptr<RunObserver> make_display(Display display, const std::vector<PlannedFile>& files);

/// "Replaced: 2 output files that were there before: a.txt, b.txt". Of many the first ten are named.
std::string replaced_text(std::span<const std::filesystem::path> files);
/// The closing lines: files, speed, where the time went, failures.
std::string summary_text(const RunSummary& summary);
/// The same as one JSON object.
std::string summary_json(const RunSummary& summary);

/// Events as JSON, one object a line on standard output, each with "event": skipped, at once for every file that is
/// done already; ready, decoded, segment, done, failed. Must not outlive `files`.
std::unique_ptr<RunObserver> make_json_events(const std::vector<PlannedFile>& files);

/// The line of a dry run for one file: planned with its outputs; skipped where it is done already; failed, an event as
/// a run's, where `problem` is not empty.
std::string planned_json(const PlannedFile& file, const std::string& problem);

/// One bar per file in work and a total line at the bottom of the terminal, refreshed five times a second by a thread
/// of its own; log lines appear above. The terminal is given back when the observer goes.
std::unique_ptr<RunObserver> make_live_display(const std::vector<PlannedFile>& files);

/// One line for a file that failed; its name comes first, once, whether or not the error brought it.
inline std::string failure_line(const std::filesystem::path& input, const Error& error) {
  const std::string name = name_of_input(input);
  return error.what.starts_with(name) ? error.text() : name + ": " + error.text();
}

}  // namespace tutti
