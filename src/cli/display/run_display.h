#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transcribe/events.h"
#include "transcribe/output_plan.h"

namespace tutti {

/// How a run is shown while it goes on.
enum class Display {
  live,   // one bar a file on the terminal
  plain,  // the text with its times, file by file in the order given
  json,   // one event a line
  quiet,  // nothing; errors still go to the log
};

/// An observer that shows the run. Text and events go to standard output, bars to standard error. Must not outlive
/// `files`.
std::unique_ptr<RunObserver> make_display(Display display, const std::vector<PlannedFile>& files);

/// "Replaced: 2 output files that were there before".
std::string replaced_text(std::size_t files);
/// The closing lines: files, speed, where the time went, failures.
std::string summary_text(const RunSummary& summary);
/// The same as one JSON object.
std::string summary_json(const RunSummary& summary);

}  // namespace tutti
