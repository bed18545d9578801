#include <algorithm>
#include <map>

#include "text/code_points.h"
#include "text/utf8.h"
#include "transcript/doubt/doubt_rules.h"
#include "transcript/doubt/scripts.h"

namespace tutti {
namespace {

constexpr std::size_t kLongestPhrase = 40;  // units; a window holds some 100 words

/// A word, or a character of a script that writes none.
struct Unit {
  std::int32_t id = 0;  // equal for equal units
  std::size_t segment = 0;
  double start = 0;
  double end = 0;
};

/// What a text is taken apart to, in lower case and without punctuation.
std::vector<std::u32string> units_of(const std::string& text) {
  std::vector<std::u32string> units;
  std::u32string word;
  const auto finish = [&] {
    if (!word.empty()) units.push_back(std::move(word));
    word.clear();
  };
  for (const char32_t value : lower(to_code_points(text))) {
    if (!is_letter(value) && !is_number(value) && class_of(value) != GeneralClass::mark_nonspacing) {
      if (value != U'\'' && value != U'’') finish();
    } else if (writes_no_spaces(script_of(value))) {
      finish();
      units.emplace_back(1, value);
    } else {
      word += value;
    }
  }
  finish();
  return units;
}

/// All units of a transcript; times are spread evenly over each segment.
class Units {
 public:
  explicit Units(const std::vector<Segment>& segments) {
    std::map<std::u32string, std::int32_t> ids;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto texts = units_of(segments[i].text);
      const double step =
          (segments[i].end - segments[i].start) / static_cast<double>(std::max<std::size_t>(texts.size(), 1));
      for (std::size_t n = 0; n < texts.size(); ++n) {
        const auto id = ids.try_emplace(texts[n], static_cast<std::int32_t>(ids.size())).first->second;
        const double start = segments[i].start + step * static_cast<double>(n);
        all_.push_back({id, i, start, start + step});
        characters_ += texts[n].size() == 1 ? 1 : 0;
      }
    }
  }
  const std::vector<Unit>& all() const { return all_; }
  bool mostly_characters() const { return 2 * characters_ > all_.size(); }

 private:
  std::vector<Unit> all_;
  std::size_t characters_ = 0;
};

/// From how many repetitions on a phrase of `length` units is more than emphasis or a refrain.
std::size_t suspicious_count(std::size_t length, bool characters) {
  if (characters) return length == 1 ? 10 : length == 2 ? 7 : length < 8 ? 5 : 3;
  return length == 1 ? 6 : length == 2 ? 5 : length == 3 ? 4 : 3;
}

/// A stretch of units that repeats its first `period` ones.
struct Repeat {
  std::size_t first = 0;
  std::size_t last = 0;  // behind it
  std::size_t period = 1;
  std::size_t count() const { return (last - first) / period; }
};

/// All stretches that repeat with this period often enough, in order.
void add_repeats(const std::vector<Unit>& units, std::size_t period, bool characters, std::vector<Repeat>& out) {
  std::size_t run = 0;
  for (std::size_t i = period; i <= units.size(); ++i) {
    if (i < units.size() && units[i].id == units[i - period].id) {
      ++run;
      continue;
    }
    const Repeat found{i - run - period, i, period};
    if (run > 0 && found.count() >= suspicious_count(period, characters)) out.push_back(found);
    run = 0;
  }
}

bool covers(const std::vector<Repeat>& known, const Repeat& repeat) {
  return std::any_of(known.begin(), known.end(),
                     [&](const Repeat& k) { return k.first < repeat.last && repeat.first < k.last; });
}

Doubt doubt_from(const ReviewedTranscript& it, const std::vector<Unit>& units, const Repeat& repeat, bool characters) {
  const Unit& first = units[repeat.first];
  const Unit& last = units[repeat.last - 1];
  const auto beyond = static_cast<double>(repeat.count() - suspicious_count(repeat.period, characters));
  const char* what = characters ? "character" : "word";
  return {.kind = DoubtKind::loop,
          .start = first.start,
          .end = last.end,
          .severity = std::min(0.98, 0.6 + 0.08 * beyond),
          .reason = std::to_string(repeat.period) + " " + what + (repeat.period == 1 ? "" : "s") + " " +
                    std::to_string(repeat.count()) + " times in a row",
          .excerpt = excerpt_of(it.transcript.segments, first.segment, last.segment + 1)};
}

}  // namespace

std::vector<Doubt> find_loops(const ReviewedTranscript& it) {
  const Units units(it.transcript.segments);
  const bool characters = units.mostly_characters();
  std::vector<Repeat> repeats;
  for (std::size_t period = 1; period <= kLongestPhrase; ++period) {
    std::vector<Repeat> found;
    add_repeats(units.all(), period, characters, found);
    for (const Repeat& repeat : found)
      if (!covers(repeats, repeat)) repeats.push_back(repeat);  // a multiple of a shorter period covers the same
  }
  std::vector<Doubt> doubts;
  for (const Repeat& repeat : repeats) doubts.push_back(doubt_from(it, units.all(), repeat, characters));
  return doubts;
}

}  // namespace tutti
