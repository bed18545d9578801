#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// One file in work, as people see it.
struct ProgressRow {
  std::string name;
  Seconds done{};
  Seconds total{};     // 0: not known yet
  std::string text{};  // the latest text
};

/// Everything a live display shows; plain data, filled by the run's observer.
struct ProgressState {
  std::vector<ProgressRow> rows{};  // files in work now
  std::size_t files_done = 0;
  std::size_t files_failed = 0;
  std::size_t files = 0;
  Seconds audio_done{};   // audio of all files, finished or in work
  Seconds audio_total{};  // length of the files whose length is known
  bool total_known = false;
  Seconds elapsed{};
};

/// One bar a file, as many as fit into `most` lines, then the total with speed and time left; each line exactly `width`
/// columns, no line breaks at the end.
std::vector<std::string> render_progress(const ProgressState& state, std::size_t width, std::size_t most);

/// Repaints lines at the bottom of a terminal (standard error). Not thread-safe.
class LiveLines {
 public:
  explicit LiveLines(int fd) : fd_(fd) {}
  /// Columns of the terminal, 80 when it does not say.
  std::size_t width() const;
  /// Lines of the terminal, 24 when it does not say. What is shown may be at most one less.
  std::size_t height() const;
  void show(const std::vector<std::string>& lines);
  /// Takes the lines away; ordinary output may follow.
  void clear();

 private:
  int fd_;
  std::size_t shown_ = 0;
};

}  // namespace tutti
