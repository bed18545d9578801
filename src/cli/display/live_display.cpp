#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <stop_token>
#include <thread>

#include "audio/recording.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/periodic_thread.h"
#include "base/strings.h"
#include "cli/display/run_display.h"
#include "transcribe/reports/run_report.h"
#include "view/progress.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(200);
constexpr std::size_t kMostRows = 12;

struct Board {
  std::map<std::size_t, ProgressRow> rows;  // files in work
  ProgressState totals;
  Seconds finished{};  // audio of the files that are done
  std::size_t lengths_known = 0;
};

ProgressState state_of(const Board& board) {
  ProgressState state = board.totals;
  state.audio_done = board.finished;
  for (const auto& [index, row] : board.rows) {
    state.audio_done += row.done;
    if (state.rows.size() < kMostRows) state.rows.push_back(row);
  }
  state.total_known = board.lengths_known == state.files;
  return state;
}

class LiveDisplay final : public RunObserver {
 public:
  explicit LiveDisplay(const std::vector<PlannedFile>& files) : files_(files), start_(Clock::real().now()) {
    board_.with([&](Board& board) {
      for (const auto& file : files) board.totals.files += file.already_done ? 0 : 1;
    });
    before_ = set_log_sink([this](Level level, std::string_view text) { write_message(level, text); });
    refresher_ = std::jthread([this](const std::stop_token& stop) { refresh(stop); });
  }
  ~LiveDisplay() override {
    refresher_.request_stop();
    refresher_.join();
    set_log_sink(before_);
    lines_.clear();
  }

  void on_decoded(std::size_t index, const Recording& recording) override {
    const Seconds duration = recording.duration();
    board_.with([&](Board& board) {
      board.rows[index] = {.name = files_[index].input.filename().string(), .total = duration};
      board.totals.audio_total += duration;
      ++board.lengths_known;
    });
    for (const auto& remark : recording.remarks())
      log(Level::warning, name_of_input(files_[index].input) + ": " + remark);
  }
  void on_progress(std::size_t index, Seconds position, const std::vector<Segment>& fresh) override {
    board_.with([&](Board& board) {
      ProgressRow& row = board.rows[index];
      row.done = position;
      for (const auto& segment : fresh)
        if (!segment.text.empty()) row.text = segment.text;
    });
  }
  void on_done(const FileOutcome& outcome, const Transcript& /*transcript*/) override {
    board_.with([&](Board& board) {
      board.rows.erase(outcome.index);
      board.finished += outcome.duration;
      ++board.totals.files_done;
    });
    const std::string written =
        joined(outcome.outputs, ", ", [](const auto& output) { return output.filename().string(); });
    log(Level::info, name_of_input(outcome.input) + ": " + length_text(outcome.duration) + " in " +
                         short_number(outcome.elapsed.count()) + " s -> " + written);
    if (!outcome.speakers.empty()) log(Level::info, "speakers:\n" + speakers_text(outcome.speakers));
  }
  void on_failed(std::size_t index, const Error& error) override {
    board_.with([&](Board& board) {
      if (const auto row = board.rows.find(index); row != board.rows.end()) {
        board.totals.audio_total -= row->second.total;
        board.rows.erase(row);
      } else {
        ++board.lengths_known;  // none will come
      }
      ++board.totals.files_failed;
    });
    log(Level::error, failure_line(files_[index].input, error));
  }

 private:
  void paint() TUTTI_REQUIRES(terminal_) {
    ProgressState state = board_.with(state_of);
    state.elapsed = Clock::real().now() - start_;
    lines_.show(render_progress(state, lines_.width(), std::max<std::size_t>(lines_.height(), 2) - 1));
  }
  void write_message(Level level, std::string_view text) {
    const MutexLock lock(terminal_);
    lines_.clear();
    before_(level, text);
    paint();
  }
  void refresh(const std::stop_token& stop) {
    for (bool goes_on = !stop.stop_requested(); goes_on; goes_on = wait_unless_stopped(stop, kRefresh)) {
      const MutexLock painting(terminal_);
      paint();
    }
  }

  const std::vector<PlannedFile>& files_;
  const Clock::Instant start_;
  Guarded<Board> board_;
  // Held while the terminal is written, so that lines and bars do not tear each other. A thread that reports how far a
  // file is does not wait for it: a terminal may be held up (Ctrl+S).
  Mutex terminal_;
  LiveLines lines_{STDERR_FILENO};
  LogSink before_;
  std::jthread refresher_;
};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::unique_ptr<RunObserver> make_live_display(const std::vector<PlannedFile>& files) {
  return std::make_unique<LiveDisplay>(files);
}

std::unique_ptr<RunObserver> make_display(Display display, const std::vector<PlannedFile>& files) {
  switch (display) {
    case Display::live: return make_live_display(files);
    case Display::plain: return make_text_lines(files, print);
    case Display::json: return make_json_events(files, print);
    case Display::quiet: return make_log_lines(files);
  }
  return make_log_lines(files);
}

}  // namespace tutti
