#include "cli/display/run_display.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "audio/recording.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/diarize/diarize_flags.h"
#include "profile/pipeline_tuner.h"
#include "transcript/subtitles.h"
#include "view/text.h"

namespace tutti {
namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// Failures and damage are logged on every display but JSON, which has events for them.
class LoggingObserver : public RunObserver {
 public:
  explicit LoggingObserver(const std::vector<PlannedFile>& files) : files_(files) {}

  void on_decoded(std::size_t index, const Recording& recording) override {
    for (const auto& remark : recording.remarks())
      log(Level::warning, name_of_input(files_[index].input) + ": " + remark);
  }
  void on_failed(std::size_t index, const Error& error) override {
    log(Level::error, failure_line(files_[index].input, error));
  }

 protected:
  const std::vector<PlannedFile>& files_;
};

/// Text in the order of the command line: the first unfinished file is printed as it comes, later ones wait for it.
class PlainObserver final : public LoggingObserver {
 public:
  using LoggingObserver::LoggingObserver;

  void on_progress(std::size_t index, Seconds /*position*/, const std::vector<Segment>& fresh) override {
    std::string& lines = waiting_[index];
    for (const auto& segment : fresh)
      if (!segment.text.empty())
        lines += "[" + clock_text(segment.start, kVttClock) + " --> " + clock_text(segment.end, kVttClock) + "] " +
                 without_controls(segment.text) + "\n";
    flush();
  }
  void on_done(const FileOutcome& outcome, const Transcript& /*transcript*/) override {
    waiting_[outcome.index] += speakers_text(outcome.speakers);
    finish(outcome.index);
  }
  void on_failed(std::size_t index, const Error& error) override {
    LoggingObserver::on_failed(index, error);
    finish(index);
  }

 private:
  void finish(std::size_t index) {
    waiting_[index];
    finished_[index] = true;
    flush();
  }
  void flush() {
    for (; turn_ < files_.size(); ++turn_) {
      const auto lines = waiting_.find(turn_);
      if (lines != waiting_.end()) print(titled(lines->second));
      if (lines != waiting_.end()) lines->second.clear();
      if (!files_[turn_].already_done && !finished_[turn_]) return;
      waiting_.erase(turn_);
    }
  }
  /// With several files, each one's first lines are under its name.
  std::string titled(const std::string& lines) {
    if (lines.empty() || files_.size() == 1 || named_ == turn_ + 1) return lines;
    named_ = turn_ + 1;
    return without_controls(name_of_input(files_[turn_].input)) + "\n" + lines;
  }

  std::map<std::size_t, std::string> waiting_;
  std::map<std::size_t, bool> finished_;
  std::size_t turn_ = 0;
  std::size_t named_ = 0;  // one past the last file whose name was printed
};

std::string percent_line(const char* what, Seconds part, Seconds whole) {
  char line[96];
  std::snprintf(line, sizeof line, "  %-9s %8.2f s  %5.1f %%\n", what, part.count(),
                whole > Seconds(0) ? 100 * (part / whole) : 0.0);
  return line;
}

/// "1 window", "5 windows".
std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The worker's time adds up to the run's; what other threads do goes on beside it. Its time for files without a
/// transcript, or for work done again, is not counted: then the rest is not called idle.
std::string time_lines(const RunSummary& summary) {
  const TimeSpent& spent = summary.spent;
  const Seconds all = summary.elapsed;
  std::string out = "Where the worker's time went:\n";
  out += percent_line("loading", summary.model_load, all);
  out += percent_line("encoder", spent.encoder, all);
  out += percent_line("decoder", spent.decoder, all);
  if (spent.speakers > Seconds(0)) out += percent_line("speakers", spent.speakers, all);
  const bool all_counted = !summary.interrupted && !summary.unfinished_work && summary.worker_restarts == 0;
  out += percent_line(all_counted ? "idle" : "other",
                      std::max(Seconds(0), all - summary.model_load - spent.worker() - spent.speakers), all);
  if (!all_counted) out += "Other: idle, or at work on what came to no transcript or had to be done again\n";
  out += "Beside it, on other threads: decoding " + short_number(spent.audio.count()) + " s, ";
  if (spent.listening > Seconds(0)) out += "listening for speech " + short_number(spent.listening.count()) + " s, ";
  return out + "features " + short_number(spent.features.count()) + " s, writing " +
         short_number(spent.writing.count()) + " s\n";
}

std::string count_lines(const WindowCounts& counts) {
  return counted(counts.windows, "window") + ", " + counted(counts.decodings, "decoding") + ", " +
         short_number(counts.batch_fill()) +
         " sequences a step. Decoder steps: " + std::to_string(counts.decoder_steps) +
         ", of them decided by less than 1e-4: " + std::to_string(counts.narrow_margins) + "\n";
}

}  // namespace

std::unique_ptr<RunObserver> make_display(Display display, const std::vector<PlannedFile>& files) {
  switch (display) {
    case Display::live: return make_live_display(files);
    case Display::plain: return std::make_unique<PlainObserver>(files);
    case Display::json: return make_json_events(files);
    case Display::quiet: return std::make_unique<LoggingObserver>(files);
  }
  return std::make_unique<LoggingObserver>(files);
}

std::string replaced_text(std::span<const std::filesystem::path> files) {
  constexpr std::size_t kMostNamed = 10;
  const auto named = files.first(std::min(files.size(), kMostNamed));
  std::string text =
      "Replaced: " + counted(files.size(), "output file") +
      (files.size() == 1 ? " that was there before: " : " that were there before: ") +
      joined(named, ", ", [](const std::filesystem::path& file) { return without_controls(file.string()); });
  if (named.size() < files.size()) text += " and " + counted(files.size() - named.size(), "other");
  return text;
}

std::string summary_text(const RunSummary& summary) {
  std::string out = std::to_string(summary.done) + " of " + std::to_string(summary.files) + " files done";
  if (summary.skipped > 0) out += ", " + std::to_string(summary.skipped) + " done before";
  if (summary.failed > 0) out += ", " + std::to_string(summary.failed) + " failed";
  if (summary.without_speech > 0) out += ", " + std::to_string(summary.without_speech) + " without speech";
  out += ": " + length_text(summary.audio) + " of audio in " + short_number(summary.elapsed.count()) + " s";
  if (summary.elapsed > Seconds(0)) out += ", " + short_number(summary.audio / summary.elapsed) + " × real time";
  out += " (model loaded in " + short_number(summary.model_load.count()) + " s)\n";
  if (summary.done == 0) return out;

  if (!summary.replaced.empty())
    out += replaced_text(summary.replaced) + "; --skip-existing leaves out inputs whose outputs are all there\n";
  if (summary.replacements > 0) out += "Replaced by --replace: " + counted(summary.replacements, "text") + "\n";
  if (summary.failed_commands > 0)
    out +=
        "Commands of --on-done that failed: " + std::to_string(summary.failed_commands) + "; the outputs are there\n";
  out += time_lines(summary) + count_lines(summary.counts);
  if (summary.worker_restarts > 0)
    out += "The worker had to be restarted " + counted(summary.worker_restarts, "time") +
           "; its windows were done again\n";
  if (const auto tuned = summary.tuning ? tuning_sentence(*summary.tuning) : std::string(); !tuned.empty())
    out += tuned + "\n";
  if (!summary.finding.empty()) out += summary.finding + "\n";
  return out;
}

}  // namespace tutti
