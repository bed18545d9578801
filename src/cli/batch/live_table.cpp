#include "cli/batch/live_table.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log_owner.h"
#include "base/mutex.h"
#include "base/periodic_thread.h"
#include "view/fleet/fleet_table.h"
#include "view/progress.h"
#include "view/terminal_settings.h"

namespace tutti {
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(500);
constexpr std::size_t kMostLines = 20;

}  // namespace

struct LiveTable::Board {
  Mutex mutex;  // held while the terminal is written: lines and table must not tear each other
  LiveLines lines{STDERR_FILENO};
  std::vector<std::string> table TUTTI_GUARDED_BY(mutex){};  // as it was last painted
  bool lent TUTTI_GUARDED_BY(mutex) = false;                 // a prompt has the terminal
  struct Line {
    Level level;
    std::string text;
    std::string owner;
  };
  std::vector<Line> held TUTTI_GUARDED_BY(mutex){};
};

LiveTable::LiveTable(Status status) : status_(std::move(status)), board_(std::make_unique<Board>()) {
  // The thread that logs may hold a lock that the status needs, so the table is only painted again as it was.
  before_ = set_log_sink([this](Level level, std::string_view text) {
    const MutexLock lock(board_->mutex);
    if (board_->lent) return board_->held.push_back({level, std::string(text), log_owner()});
    board_->lines.clear();
    before_(level, text);
    board_->lines.show(board_->table);
  });
  refresher_ = std::jthread([this](const std::stop_token& over) { refresh(over); });
}

LiveTable::~LiveTable() {
  refresher_.request_stop();
  refresher_.join();
  set_log_sink(before_);
  board_->lines.clear();
}

void LiveTable::alone(const std::function<void()>& fn) {
  {
    const MutexLock lock(board_->mutex);
    board_->lines.clear();
    board_->lent = true;
  }
  fn();
  const MutexLock lock(board_->mutex);
  for (const auto& [level, text, owner] : board_->held) {
    const LogOwner owned(owner);
    before_(level, text);
  }
  board_->held.clear();
  board_->lent = false;
}

void LiveTable::refresh(const std::stop_token& over) {
  for (bool goes_on = !over.stop_requested(); goes_on; goes_on = wait_unless_stopped(over, kRefresh)) {
    if (const auto status = status_()) {
      const Screen screen{.columns = board_->lines.width(),
                          .lines = std::min(kMostLines, std::max<std::size_t>(board_->lines.height(), 2) - 1),
                          .ascii = !is_utf8_locale(),
                          .colour = wants_colour()};
      auto table = render_fleet(*status, screen);
      const MutexLock lock(board_->mutex);
      board_->table = std::move(table);
      if (!board_->lent) board_->lines.show(board_->table);
    }
  }
}

}  // namespace tutti
