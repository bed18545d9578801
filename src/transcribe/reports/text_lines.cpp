#include <map>
#include <utility>

#include "audio/recording.h"
#include "base/log.h"
#include "base/strings.h"
#include "transcribe/reports/run_report.h"
#include "transcript/subtitles.h"
#include "view/text.h"

namespace tutti {
namespace {

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
  PlainObserver(const std::vector<PlannedFile>& files, OnLine on_text)
      : LoggingObserver(files), on_text_(std::move(on_text)) {}

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
      if (lines != waiting_.end()) on_text_(titled(lines->second));
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

  const OnLine on_text_;
  std::map<std::size_t, std::string> waiting_;
  std::map<std::size_t, bool> finished_;
  std::size_t turn_ = 0;
  std::size_t named_ = 0;  // one past the last file whose name was printed
};

}  // namespace

std::unique_ptr<RunObserver> make_text_lines(const std::vector<PlannedFile>& files, OnLine on_text) {
  return std::make_unique<PlainObserver>(files, std::move(on_text));
}

std::unique_ptr<RunObserver> make_log_lines(const std::vector<PlannedFile>& files) {
  return std::make_unique<LoggingObserver>(files);
}

}  // namespace tutti
