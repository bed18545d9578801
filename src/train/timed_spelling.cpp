#include "train/timed_spelling.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "train/labels.h"

namespace tutti {
namespace {

constexpr double kPositionsPerSecond = 50;
constexpr std::int64_t kAround = 1;    // positions on both sides of a token's end
constexpr double kSpaceBefore = 0.04;  // seconds: between letters of Morse at 45 words a minute lie 80 ms

/// One sample's positions. Tokens come in order; none is written over its predecessor.
class Row {
 public:
  Row(std::int64_t* positions, std::int64_t real) : positions_(positions), real_(real) {}

  void put(std::int64_t token, double seconds) {
    const auto end = static_cast<std::int64_t>(std::floor(seconds * kPositionsPerSecond));
    const auto first = std::max(end - kAround, next_);
    const auto behind = std::min(std::max(end + kAround, first) + 1, real_);
    for (std::int64_t i = first; i < behind; ++i) positions_[i] = token;
    next_ = std::max(next_, behind);
  }

 private:
  std::int64_t* positions_;
  std::int64_t real_;
  std::int64_t next_ = 0;
};

void put_word(const TimedText& word, const Tokenizer& tokenizer, Row& row) {
  auto tokens = tokenizer.encode(word.text);
  if (tokens.empty()) return;
  if (tokens.size() > 1 && word.text.front() == ' ' && tokenizer.decode(std::span(tokens).first(1)) == " ") {
    row.put(tokens.front(), word.start - kSpaceBefore);
    tokens.erase(tokens.begin());
  }
  const double step = (word.end - word.start) / static_cast<double>(tokens.size());
  double end = word.start;
  for (const auto token : tokens) row.put(token, end += step);
}

}  // namespace

at::Tensor tokens_at_positions(std::span<const BatchSample* const> samples, const Tokenizer& tokenizer,
                               std::int64_t positions, std::int64_t blank) {
  auto all = at::full({static_cast<std::int64_t>(samples.size()), positions}, kNotAsked, at::TensorOptions(at::kLong));
  auto* row = all.mutable_data_ptr<std::int64_t>();
  for (const BatchSample* sample : samples) {
    if (!sample->words.empty() || sample->text.empty()) {
      const auto real = std::min<std::int64_t>((sample->frames + 1) / 2, positions);
      std::fill(row, row + real, blank);
      Row spelled(row, real);
      for (const TimedText& word : sample->words) put_word(word, tokenizer, spelled);
    }
    row += positions;
  }
  return all;
}

}  // namespace tutti
