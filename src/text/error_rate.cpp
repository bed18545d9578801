#include "text/error_rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.h"
#include "base/try.h"
#include "text/byte_order_mark.h"
#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Bits = std::uint64_t;
using Symbols = std::span<const std::int32_t>;

constexpr std::size_t kBits = 64;

/// Where each symbol is in the reference, as bits.
class Positions {
 public:
  explicit Positions(Symbols reference) : words_((reference.size() + kBits - 1) / kBits), scratch_(words_) {
    for (std::size_t i = 0; i < reference.size(); ++i) positions_[reference[i]].push_back(i);
    for (const auto& [symbol, positions] : positions_)
      if (positions.size() >= words_) set(masks_[symbol] = std::vector<Bits>(words_), positions);
  }

  std::size_t words() const { return words_; }

  /// Good until the next call.
  const Bits* of(std::int32_t symbol) {
    if (const auto frequent = masks_.find(symbol); frequent != masks_.end()) return frequent->second.data();
    for (const std::size_t position : shown_) scratch_[position / kBits] = 0;
    shown_ = {};
    if (const auto found = positions_.find(symbol); found != positions_.end()) set(scratch_, shown_ = found->second);
    return scratch_.data();
  }

 private:
  static void set(std::vector<Bits>& mask, std::span<const std::size_t> positions) {
    for (const std::size_t position : positions) mask[position / kBits] |= Bits{1} << position % kBits;
  }

  std::size_t words_;
  std::unordered_map<std::int32_t, std::vector<std::size_t>> positions_;
  // Only for the at most 64 symbols that would be dearer to set bit by bit: memory stays linear.
  std::unordered_map<std::int32_t, std::vector<Bits>> masks_;
  std::vector<Bits> scratch_;
  std::span<const std::size_t> shown_;  // what is set in scratch_
};

/// One row of the table of distances, as differences between neighbours: bit i of `plus` (`minus`) means that the
/// distance at reference symbol i is one more (less) than at i - 1. Made as the first row: the distance counts up.
struct Row {
  std::vector<Bits> plus, minus;

  explicit Row(std::size_t words) : plus(words, ~Bits{0}), minus(words) {}
  static bool test(const std::vector<Bits>& bits, std::size_t at) { return bits[at / kBits] >> at % kBits & 1; }
};

/// The part of the table that a path of at most `width` errors can reach: no path leaves the diagonal further than it
/// has errors (Ukkonen 1985). Words of a row outside are not looked at.
struct Band {
  std::size_t reference;  // symbols
  std::size_t width;

  std::size_t first(std::size_t row) const { return row > width + 1 ? (row - width - 1) / kBits : 0; }
  /// One behind the last symbol of the last word in the band.
  std::size_t end(std::size_t row) const { return std::min(reference, ((row + width - 1) / kBits + 1) * kBits); }
};

/// Makes row number `next` from the one before, for a hypothesis symbol that is at `matches`; both may be the same
/// object. Returns the change of the distance at the end of the band.
int advance(const Row& from, Row& to, std::size_t next, const Band& band, const Bits* matches) {
  const std::size_t known = (band.end(next - 1) - 1) / kBits, last = band.end(next) - 1;
  Bits plus_in = 1, minus_in = 0;  // left of the band the distance counts up, which is never too little
  int change = 0;
  for (std::size_t w = band.first(next); w <= last / kBits; ++w) {
    const Bits plus = w <= known ? from.plus[w] : ~Bits{0}, minus = w <= known ? from.minus[w] : 0;
    const Bits x = matches[w] | minus_in;
    const Bits diagonal = (((x & plus) + plus) ^ plus) | x | minus;
    Bits right_plus = minus | ~(diagonal | plus);
    Bits right_minus = diagonal & plus;
    if (w == last / kBits)
      change = static_cast<int>(right_plus >> last % kBits & 1) - static_cast<int>(right_minus >> last % kBits & 1);
    const Bits plus_out = right_plus >> (kBits - 1), minus_out = right_minus >> (kBits - 1);
    right_plus = right_plus << 1 | plus_in;
    right_minus = right_minus << 1 | minus_in;
    to.plus[w] = right_minus | ~(diagonal | right_plus);
    to.minus[w] = right_plus & diagonal;
    plus_in = plus_out;
    minus_in = minus_out;
  }
  return change;
}

/// Goes through all rows of the table inside `band`, showing each before it is left to `visit(number, row)`. Returns
/// the distance, which is right where it is at most the width of the band, and too great elsewhere.
template <class Visit>
std::size_t last_distance(const Band& band, Positions& positions, Symbols hypothesis, Visit&& visit) {
  Row row(positions.words());
  std::size_t distance = band.end(0);
  for (std::size_t j = 0; j < hypothesis.size(); ++j) {
    visit(j, row);
    distance += band.end(j + 1) - band.end(j);  // words that enter the band count up
    distance += static_cast<std::size_t>(advance(row, row, j + 1, band, positions.of(hypothesis[j])));
  }
  return distance;
}

/// Widens the band until the distance fits: the cost is that of the errors there are. `attempt(band)` returns the
/// distance in a band.
template <class Attempt>
std::size_t widen(Symbols reference, Symbols hypothesis, Attempt&& attempt) {
  const std::size_t longer = std::max(reference.size(), hypothesis.size());
  const std::size_t least = longer - std::min(reference.size(), hypothesis.size());
  for (std::size_t width = std::max({kBits, least, longer / 64});; width *= 2) {
    const std::size_t distance = attempt(Band{reference.size(), width + 1});  // the way back needs one beside it
    if (distance <= width || width >= longer) return distance;
  }
}

/// Takes equal symbols off both ends; returns how many.
std::int64_t trim(Symbols& a, Symbols& b) {
  const std::size_t before = a.size();
  const auto front = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  a = a.subspan(front);
  b = b.subspan(front);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
  return static_cast<std::int64_t>(before - a.size());
}

/// Finds the way back through the table without holding it: some rows are kept, and those between two of them made
/// again when the way gets there.
class WayBack {
 public:
  WayBack(Symbols reference, Symbols hypothesis)
      : reference_(reference),
        hypothesis_(hypothesis),
        positions_(reference),
        stride_(std::max(kBits, static_cast<std::size_t>(std::sqrt(hypothesis.size())) + 1)),
        rows_(std::min(stride_, hypothesis.size()) + 1, Row(positions_.words())),
        i_(reference.size()),
        j_(hypothesis.size()) {}

  EditCounts counts() {
    widen(reference_, hypothesis_, [&](const Band& band) { return keep_some_rows(band); });
    while (i_ > 0 && j_ > 0) {
      const std::size_t first = (j_ - 1) / stride_ * stride_;
      make_rows(first, j_);
      walk(first);
    }
    counts_.deletions += static_cast<std::int64_t>(i_);
    counts_.insertions += static_cast<std::int64_t>(j_);
    return counts_;
  }

 private:
  std::size_t keep_some_rows(const Band& band) {
    band_ = band;
    kept_.clear();
    return last_distance(band, positions_, hypothesis_, [&](std::size_t j, const Row& row) {
      if (j % stride_ == 0) kept_.push_back(row);
    });
  }

  /// Rows `first` to `last`, both included.
  void make_rows(std::size_t first, std::size_t last) {
    rows_[0] = kept_[first / stride_];
    for (std::size_t j = first; j < last; ++j)
      advance(rows_[j - first], rows_[j + 1 - first], j + 1, band_, positions_.of(hypothesis_[j]));
  }

  /// Back to row `first`, or to the start of the reference. No shortest path leaves the band.
  void walk(std::size_t first) {
    while (i_ > 0 && j_ > first) {
      if (Row::test(rows_[j_ - first].plus, i_ - 1)) {
        ++counts_.deletions;
        --i_;
      } else if (--j_; j_ > 0 && Row::test(rows_[j_ - first].minus, i_ - 1)) {
        ++counts_.insertions;
      } else {
        --i_;
        ++(reference_[i_] == hypothesis_[j_] ? counts_.hits : counts_.substitutions);
      }
    }
  }

  Symbols reference_, hypothesis_;
  Positions positions_;
  std::size_t stride_;
  std::vector<Row> rows_;  // those made again; rows_[0] is a kept one
  std::size_t i_, j_;
  Band band_{};
  std::vector<Row> kept_;  // rows 0, stride, 2 * stride, ...
  EditCounts counts_;
};

}  // namespace

std::int64_t edit_distance(Symbols reference, Symbols hypothesis) {
  trim(reference, hypothesis);
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  Positions positions(reference);
  return static_cast<std::int64_t>(widen(reference, hypothesis, [&](const Band& band) {
    return last_distance(band, positions, hypothesis, [](std::size_t, const Row&) {});
  }));
}

EditCounts edit_counts(Symbols reference, Symbols hypothesis) {
  const std::int64_t equal = trim(reference, hypothesis);
  EditCounts counts;
  if (reference.empty())
    counts.insertions = static_cast<std::int64_t>(hypothesis.size());
  else
    counts = WayBack(reference, hypothesis).counts();
  counts.hits += equal;
  return counts;
}

namespace {

using Symbols = std::span<const std::int32_t>;
using Matches = std::vector<std::optional<std::size_t>>;

/// An edit costs more than any number of matches gains: of the shortest paths, that with most matches is the cheapest.
constexpr std::int64_t kEdit = std::int64_t{1} << 32;
constexpr std::int64_t kMatch = -1;

/// The cost of turning all of `rows` into each beginning of `columns`.
std::vector<std::int64_t> costs_of(Symbols rows, Symbols columns) {
  std::vector<std::int64_t> costs(columns.size() + 1);
  for (std::size_t at = 1; at < costs.size(); ++at) costs[at] = costs[at - 1] + kEdit;
  for (const auto row : rows) {
    std::int64_t diagonal = costs[0];
    costs[0] += kEdit;
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const auto changed = diagonal + (row == columns[at] ? kMatch : kEdit);
      diagonal = costs[at + 1];
      costs[at + 1] = std::min({changed, diagonal + kEdit, costs[at] + kEdit});
    }
  }
  return costs;
}

std::vector<std::int32_t> reversed(Symbols symbols) {
  return {symbols.rbegin(), symbols.rend()};
}

/// Enters the positions of `reference`, which begins at `positions`, in a hypothesis whose part `hypothesis` begins at
/// `offset`.
void match(Symbols reference, Symbols hypothesis, std::size_t offset, std::span<std::optional<std::size_t>> positions) {
  if (reference.empty() || hypothesis.empty()) return;
  if (reference.size() == 1) {
    const auto found = std::ranges::find(hypothesis, reference.front());
    if (found != hypothesis.end()) positions.front() = offset + static_cast<std::size_t>(found - hypothesis.begin());
    return;
  }
  const std::size_t half = reference.size() / 2;
  const auto before = costs_of(reference.first(half), hypothesis);
  const auto behind = costs_of(reversed(reference.subspan(half)), reversed(hypothesis));
  std::size_t cut = 0;
  for (std::size_t at = 0; at <= hypothesis.size(); ++at)
    if (before[at] + behind[hypothesis.size() - at] < before[cut] + behind[hypothesis.size() - cut]) cut = at;
  match(reference.first(half), hypothesis.first(cut), offset, positions.first(half));
  match(reference.subspan(half), hypothesis.subspan(cut), offset + cut, positions.subspan(half));
}

}  // namespace

Matches matching_positions(Symbols reference, Symbols hypothesis) {
  Matches positions(reference.size());
  match(reference, hypothesis, 0, positions);
  return positions;
}

namespace {

std::u32string_view strip(std::u32string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Two and more white spaces become one U+0020; a lone one stays what it is: re.sub(r"\s\s+", " ", text)
std::u32string join_runs(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_space(text[end])) ++end;
    const std::size_t spaces = end - at;
    out.push_back(spaces > 1 ? U' ' : text[at]);
    at += spaces > 1 ? spaces : 1;
  }
  return out;
}

/// Words as numbers, equal words as equal ones.
class Words {
 public:
  std::vector<std::int32_t> of(std::u32string_view text) {
    const std::u32string joined = join_runs(text);
    std::vector<std::int32_t> numbers;
    std::u32string_view rest = strip(joined);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(U' '), rest.size());
      if (end > 0) numbers.push_back(number_of(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return numbers;
  }

 private:
  std::int32_t number_of(std::u32string_view word) {
    return numbers_.emplace(word, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

  std::unordered_map<std::u32string, std::int32_t> numbers_;
};

std::vector<std::int32_t> characters_of(std::u32string_view text) {
  const std::u32string_view stripped = strip(text);
  return {stripped.begin(), stripped.end()};
}

double per(std::int64_t errors, std::int64_t units) {
  return units == 0 ? static_cast<double>(errors) : static_cast<double>(errors) / static_cast<double>(units);
}

}  // namespace

double ErrorRates::wer() const {
  return per(words.errors(), words.reference());
}

double ErrorRates::cer() const {
  return per(character_errors, characters);
}

Result<ErrorRates> error_rates(std::span<const std::string> references, std::span<const std::string> hypotheses) {
  if (references.size() != hypotheses.size())
    return fail(Fault::usage, "expected one hypothesis for each of " + std::to_string(references.size()) +
                                  " references, found " + std::to_string(hypotheses.size()));
  ErrorRates rates;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::u32string reference = to_code_points(references[i]), hypothesis = to_code_points(hypotheses[i]);
    Words words;
    const auto reference_words = words.of(reference);
    const EditCounts counts = edit_counts(reference_words, words.of(hypothesis));
    rates.words.hits += counts.hits;
    rates.words.substitutions += counts.substitutions;
    rates.words.insertions += counts.insertions;
    rates.words.deletions += counts.deletions;
    const auto characters = characters_of(reference);
    rates.characters += static_cast<std::int64_t>(characters.size());
    rates.character_errors += edit_distance(characters, characters_of(hypothesis));
  }
  return rates;
}

Result<std::vector<std::string>> read_lines(const std::filesystem::path& path) {
  auto content = TRY(read_file(path));
  std::string_view rest = without_mark(content);
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_utf8(line))
      return fail(Fault::corrupt,
                  path.string() + ", line " + std::to_string(lines.size() + 1) + ": expected UTF-8, found other bytes",
                  "Convert it, for example with iconv -f latin1 -t utf-8");
    lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

}  // namespace tutti
