#pragma once

#include <memory>
#include <vector>

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

/// One bar per file in work and a total line at the bottom of the terminal, refreshed five times a second by a thread
/// of its own; log lines appear above. The terminal is given back when the observer goes.
std::unique_ptr<RunObserver> make_live_display(const std::vector<PlannedFile>& files);

}  // namespace tutti
