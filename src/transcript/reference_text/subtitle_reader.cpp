#include "transcript/reference_text/subtitle_reader.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "base/strings.h"
#include "text/byte_order_mark.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr std::string_view kArrow = "-->";

/// Lines one after the other, ends of any kind taken off.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(without_mark(text)) {}
  std::optional<std::string_view> next() {
    if (text_.empty()) return std::nullopt;
    const auto end = text_.find('\n');
    auto line = text_.substr(0, end);
    text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return line;
  }
  std::size_t number() const { return number_; }

 private:
  std::string_view text_;
  std::size_t number_ = 0;
};

/// [HH:]MM:SS,mmm or with a point, at the start of `text`.
std::optional<double> seconds_at(std::string_view text) {
  double seconds = 0, part = 0, scale = 0;
  int colons = 0;
  bool digits = false;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      part = scale > 0 ? part + (c - '0') * scale : part * 10 + (c - '0');
      scale /= 10;
      digits = true;
    } else if (c == ':' && scale == 0) {
      seconds = (seconds + part) * 60;
      part = 0;
      ++colons;
    } else if ((c == ',' || c == '.') && scale == 0) {
      scale = 0.1;
    } else {
      break;
    }
  }
  if (!digits || colons < 1 || colons > 2) return std::nullopt;
  return seconds + part;
}

/// Without <...> and {\...}, entities as signs.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool braces = line.substr(at).starts_with("{\\");
    const auto close = line[at] == '<' || braces ? line.find(braces ? '}' : '>', at) : line.npos;
    if (close != line.npos)
      at = close;
    else
      text += line[at];
  }
  for (const auto& [entity, sign] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", " "}, {"&amp;", "&"}})
    text = replaced(text, entity, sign);
  return std::string(strip(text));
}

Result<Segment> timed(std::string_view line, std::size_t number) {
  const auto arrow = line.find(kArrow);
  const auto start = seconds_at(strip(line.substr(0, arrow)));
  const auto end = seconds_at(strip(line.substr(arrow + kArrow.size())));
  Segment segment;
  if (start && end) {
    segment.start = *start;
    segment.end = *end;
    return segment;
  }
  return fail(Fault::corrupt, "line " + std::to_string(number) +
                                  ": expected two times like 00:01:02,500 --> 00:01:04,000, found '" +
                                  std::string(line) + "'");
}

bool begins_with_time(std::string_view line) {
  const auto arrow = line.find(kArrow);
  return arrow != line.npos && seconds_at(strip(line.substr(0, arrow)));
}

bool is_number(std::string_view line) {
  return std::ranges::all_of(line, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// A subtitle of the file.
struct Shown {
  Segment times{};
  std::vector<std::string> lines{};
  std::string wrong{};  // with its times; empty: nothing
};

std::string backwards(const Segment& times, std::size_t number) {
  return "line " + std::to_string(number) + ": its end, " + fixed_text(times.end, 3) + " s, is before its start, " +
         fixed_text(times.start, 3) + " s";
}

/// Gives those without times the time between their neighbours.
void time_untimed(std::vector<Shown>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    Segment& times = all[i].times;
    if (all[i].wrong.empty()) continue;
    if (times.end < times.start) std::swap(times.start, times.end);
    if (times.end > 0) continue;
    const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(),
                                   [](const Shown& shown) { return shown.times.end > 0; });
    times.start = i > 0 ? all[i - 1].times.end : 0;
    times.end = std::max(times.start, next == all.end() ? times.start : next->times.start);
  }
}

/// A subtitle's lines, up to an empty one (of spaces alone it is a line). Where that was left out, the next one's times
/// end it, and the number before them is no text. Returns the line that ended it.
std::optional<std::string_view> read_lines(Lines& lines, std::vector<std::string>& texts) {
  auto line = lines.next();
  for (; line && !line->empty() && !begins_with_time(*line); line = lines.next())
    if (auto words = plain(*line); !words.empty()) texts.push_back(std::move(words));
  if (line && begins_with_time(*line) && !texts.empty() && is_number(texts.back())) texts.pop_back();
  return line;
}

/// Captions that roll, as YouTube's do: the last line stays above the present one, and between two of them comes one
/// for a moment that adds nothing.
bool repeats(const Shown& now, const Shown& before) {
  return !now.lines.empty() && !before.lines.empty() && now.lines.front() == before.lines.back();
}

bool they_roll(const std::vector<Shown>& all) {
  constexpr double kMoment = 0.05;  // seconds: YouTube's take 0.01
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].lines.size() == 1 && repeats(all[i], all[i - 1]) && all[i].times.end - all[i].times.start <= kMoment)
      return true;
  return false;
}

std::vector<Segment> without_repeats(const std::vector<Shown>& all) {
  const bool rolling = they_roll(all);
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool again = rolling && i > 0 && repeats(all[i], all[i - 1]);
    Segment segment = all[i].times;
    segment.text = joined(std::span(all[i].lines).subspan(again ? 1 : 0), "\n");
    if (!segment.text.empty()) segments.push_back(std::move(segment));
  }
  return segments;
}

}  // namespace

Result<Subtitles> read_subtitles(std::string_view text) {
  std::vector<Shown> all;
  std::optional<Error> first_wrong;
  Lines lines(text);
  for (auto line = lines.next(); line;) {
    if (line->find(kArrow) == line->npos) {
      line = lines.next();
      continue;
    }
    const std::size_t number = lines.number();
    auto times = timed(*line, number);
    Shown& shown = all.emplace_back();
    if (!times)
      shown.wrong = times.error().what;
    else if (shown.times = std::move(*times); shown.times.end < shown.times.start)
      shown.wrong = backwards(shown.times, number);
    if (!shown.wrong.empty() && !first_wrong) first_wrong = Error{Fault::corrupt, shown.wrong};
    line = read_lines(lines, shown.lines);
  }
  time_untimed(all);
  Subtitles subtitles;
  for (const Shown& shown : all) {
    if (shown.wrong.empty()) continue;
    subtitles.unusable.push_back({shown.times, shown.wrong});
    subtitles.unusable.back().segment.text = joined(shown.lines, "\n");
  }
  std::erase_if(all, [](const Shown& shown) { return !shown.wrong.empty(); });
  subtitles.texts = without_repeats(all);
  if (!subtitles.texts.empty()) return subtitles;
  if (first_wrong) return tl::unexpected(*first_wrong);
  return fail(Fault::corrupt, "expected subtitles with times, found none");
}

}  // namespace tutti
