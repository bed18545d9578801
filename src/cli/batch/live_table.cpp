#include "cli/batch/live_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>

#include "base/guarded.h"
#include "base/log.h"
#include "view/fleet/fleet_table.h"
#include "view/progress.h"

namespace tutti {
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(200);
constexpr std::size_t kMostLines = 30;

Screen screen_of_terminal() {
  Screen screen;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    screen = {.columns = size.ws_col, .lines = size.ws_row};
  // The lines that are painted over must all be in sight; what is above is the log's.
  screen.lines = std::min(kMostLines, screen.lines - std::min<std::size_t>(screen.lines, 2));
  const char* no_colour = std::getenv("NO_COLOR");
  screen.colour = !(no_colour && *no_colour);
  return screen;
}

struct Board {
  LiveLines lines{STDERR_FILENO};
  std::optional<FleetStatus> status{};
  bool hidden = false;

  void paint() {
    if (status && !hidden) lines.show(render_fleet(*status, screen_of_terminal()));
  }
};

class Table final : public LiveTable {
 public:
  explicit Table(std::function<std::optional<FleetStatus>()> status) : status_(std::move(status)) {
    before_ = set_log_sink([this](Level level, std::string_view text) { say(level, text); });
    refresher_ = std::jthread([this](const std::stop_token& over) { refresh(over); });
  }
  ~Table() override {
    refresher_.request_stop();
    refresher_.join();
    set_log_sink(before_);
    board_.with([](Board& board) { board.lines.clear(); });
  }

  void aside(const std::function<void()>& during) override {
    hide(true);
    during();
    hide(false);
  }

 private:
  void hide(bool hidden) {
    board_.with([&](Board& board) {
      board.hidden = hidden;
      if (hidden) board.lines.clear();
    });
  }
  void say(Level level, std::string_view text) {
    board_.with([&](Board& board) {
      board.lines.clear();
      before_(level, text);
      board.paint();
    });
  }
  void refresh(const std::stop_token& over) {
    std::mutex mutex;
    std::condition_variable_any tick;
    std::unique_lock lock(mutex);
    while (!over.stop_requested()) {
      auto status = status_();  // takes the batch's locks: not under ours
      board_.with([&](Board& board) {
        board.status = std::move(status);
        board.paint();
      });
      tick.wait_for(lock, over, kRefresh, [] { return false; });
    }
  }

  std::function<std::optional<FleetStatus>()> status_;
  Guarded<Board> board_;
  LogSink before_;
  std::jthread refresher_;
};

}  // namespace

std::unique_ptr<LiveTable> make_live_table(std::function<std::optional<FleetStatus>()> status) {
  return std::make_unique<Table>(std::move(status));
}

}  // namespace tutti
