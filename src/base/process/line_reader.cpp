#include "base/process/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/strings.h"

namespace tutti {

/// The whole lines of what was read; at its end the last one, too.
std::vector<std::string> LineReader::take_lines() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const auto end = is_over_ ? rest_.size() : rest_.rfind(end_) + 1;
  std::string_view whole = std::string_view(rest_).substr(0, end);
  if (whole.empty()) return {};
  if (!has_begun_ && whole.starts_with(kMark)) whole.remove_prefix(kMark.size());
  has_begun_ = true;
  std::vector<std::string> lines;
  for (auto line : split(whole, end_)) {
    if (end_ == '\n' && line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !(end_ == '\0' && line == "\n")) lines.emplace_back(line);  // as `echo` ends a list
  }
  rest_.erase(0, end);
  return lines;
}

Result<std::vector<std::string>> LineReader::next() {
  while (true) {
    if (auto lines = take_lines(); !lines.empty() || is_over_) return lines;
    char block[65536];
    const ssize_t got = ::read(fd_, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected<Error>(system_error("the list of names", "cannot be read", errno));
    is_over_ = got == 0;
    rest_.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace tutti
