#include "view/progress.h"

#include <unistd.h>

#include "base/strings.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kNameColumns = 22;
constexpr std::size_t kBarColumns = 20;

std::string row_line(const ProgressRow& row, std::size_t width) {
  const double share = row.total > Seconds(0) ? row.done / row.total : 0;
  std::string line = fitted(without_controls(row.name), kNameColumns, true) + " " + bar_of(share, kBarColumns) + " ";
  line += row.total > Seconds(0) ? length_text(row.done) + "/" + length_text(row.total) : std::string("decoding");
  line += "  " + without_controls(row.text);
  return fitted(line, width);
}

std::string total_line(const ProgressState& state, std::size_t width) {
  const double speed = state.elapsed > Seconds(0) ? state.audio_done / state.elapsed : 0;
  std::string line = std::to_string(state.files_done) + "/" + std::to_string(state.files) + " files";
  if (state.files_failed > 0) line += ", " + std::to_string(state.files_failed) + " failed";
  line += "  " + length_text(state.audio_done) + " of audio in " + length_text(state.elapsed);
  if (speed > 0) line += "  " + short_number(speed) + " × real time";
  if (speed > 0 && state.total_known)
    line += "  " + length_text((state.audio_total - state.audio_done) / speed) + " left";
  return fitted(line, width);
}

void write_out(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = ::write(fd, text.data() + at, text.size() - at);
    if (put <= 0) return;  // a display that went away must not stop the work
    at += static_cast<std::size_t>(put);
  }
}

}  // namespace

std::vector<std::string> render_progress(const ProgressState& state, std::size_t width, std::size_t most) {
  std::vector<std::string> lines;
  for (const auto& row : state.rows)
    if (lines.size() + 1 < most) lines.push_back(row_line(row, width));
  lines.push_back(total_line(state, width));
  return lines;
}

std::size_t LiveLines::width() const {
  return screen_of(fd_).columns;
}

std::size_t LiveLines::height() const {
  return screen_of(fd_).lines;
}

void LiveLines::show(const std::vector<std::string>& lines) {
  std::string out;
  if (shown_ > 0) out += "\x1b[" + std::to_string(shown_) + "A";
  for (const auto& line : lines) out += "\r" + line + "\x1b[K\n";
  // Fewer lines than before: take the rest away.
  if (lines.size() < shown_) out += "\x1b[J";
  write_out(fd_, out);
  shown_ = lines.size();
}

void LiveLines::clear() {
  if (shown_ > 0) write_out(fd_, "\x1b[" + std::to_string(shown_) + "A\r\x1b[J");
  shown_ = 0;
}

}  // namespace tutti
