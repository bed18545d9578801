#include "text/manifest/date_time.h"

namespace tutti {
namespace {

using namespace std::chrono;

/// Takes a text apart from its front.
class Text {
 public:
  explicit Text(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<int> digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return {};
    const int value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }
  /// Exactly so many digits, and no more than `most`.
  std::optional<int> number(int digits, int most) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      const auto next = digit();
      if (!next) return {};
      value = 10 * value + *next;
    }
    return value <= most ? std::optional(value) : std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::optional<sys_days> date_in(Text& text) {
  const auto year = text.number(4, 9999);
  if (!year || !text.take('-')) return {};
  const auto month = text.number(2, 12);
  if (!month || !text.take('-')) return {};
  const auto day = text.number(2, 31);
  if (!day) return {};
  const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  return date.ok() ? std::optional(sys_days(date)) : std::nullopt;
}

std::optional<milliseconds> time_in(Text& text) {
  const auto hour = text.number(2, 23);
  if (!hour || !text.take(':')) return {};
  const auto minute = text.number(2, 59);
  if (!minute) return {};
  milliseconds time = hours(*hour) + minutes(*minute);
  if (!text.take(':')) return time;
  const auto second = text.number(2, 60);  // a leap second's is 60
  if (!second) return {};
  time += seconds(*second);
  if (!text.take('.')) return time;
  auto next = text.digit();
  if (!next) return {};
  for (int worth = 100; next; next = text.digit(), worth /= 10) time += milliseconds(worth * *next);
  return time;
}

/// By how much the clocks there are ahead of UTC.
std::optional<minutes> zone_in(Text& text) {
  if (text.at_end() || text.take('Z')) return minutes(0);
  const bool behind = text.take('-');
  if (!behind && !text.take('+')) return {};
  const auto hour = text.number(2, 23);
  if (!hour) return {};
  text.take(':');
  const auto minute = text.at_end() ? std::optional(0) : text.number(2, 59);
  if (!minute) return {};
  const minutes ahead = hours(*hour) + minutes(*minute);
  return behind ? -ahead : ahead;
}

}  // namespace

std::optional<sys_time<milliseconds>> parse_date_time(std::string_view written) {
  Text text(written);
  const auto date = date_in(text);
  if (!date) return {};
  if (text.at_end()) return *date + days(1);
  if (!text.take('T') && !text.take(' ')) return {};
  const auto time = time_in(text);
  if (!time) return {};
  const auto ahead = zone_in(text);
  if (!ahead || !text.at_end()) return {};
  return *date + *time - *ahead;
}

}  // namespace tutti
