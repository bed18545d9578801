#include "train/whisper/frame_targets.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.h"

namespace tutti {
namespace {

constexpr std::int64_t kAround = 1;    // positions on both sides of a token's end
constexpr double kSpaceBefore = 0.04;  // seconds: 80 ms separate characters of Morse at 45 words a minute
constexpr double kMargin = 0.04;       // seconds on both sides of a token's audio

struct TimedToken {
  std::int64_t token = 0;
  double start = 0;  // seconds
  double end = 0;
};

/// Evenly over the time of the word.
void append_tokens(const TimedText& word, const Tokenizer& tokenizer, std::vector<TimedToken>& timed) {
  auto tokens = tokenizer.encode(word.text);
  if (tokens.size() > 1 && word.text.front() == ' ' && tokenizer.decode(std::span(tokens).first(1)) == " ") {
    timed.push_back({tokens.front(), word.start - kSpaceBefore, word.start - kSpaceBefore});
    tokens.erase(tokens.begin());
  }
  const double step = (word.end - word.start) / static_cast<double>(std::max<std::size_t>(tokens.size(), 1));
  double start = word.start;
  for (const auto token : tokens) {
    timed.push_back({token, start, start + step});
    start += step;
  }
}

std::vector<TimedToken> timed_tokens(const BatchSample& sample, const Tokenizer& tokenizer) {
  std::vector<TimedToken> timed;
  for (const TimedText& word : sample.words) append_tokens(word, tokenizer, timed);
  return timed;
}

/// One sample's positions. Tokens come in order; none is written over its predecessor.
class Row {
 public:
  Row(std::int64_t* positions, std::int64_t real) : positions_(positions), real_(real) {}

  void put(const TimedToken& token) {
    const auto end = static_cast<std::int64_t>(std::floor(token.end * kPositionsPerSecond));
    const auto first = std::max(end - kAround, next_);
    const auto behind = std::min(std::max(end + kAround, first) + 1, real_);
    for (std::int64_t i = first; i < behind; ++i) positions_[i] = token.token;
    next_ = std::max(next_, behind);
  }

 private:
  std::int64_t* positions_;
  std::int64_t real_;
  std::int64_t next_ = 0;
};

/// The positions of a row's text tokens; none where the words spell something else.
std::vector<TimedToken> places_in(const LabelRow& row, const BatchSample& sample, const Tokenizer& tokenizer) {
  const auto timed = timed_tokens(sample, tokenizer);
  auto next = timed.begin();
  for (const auto token : row.targets) {
    if (token >= tokenizer.special().eot) continue;
    if (next == timed.end() || next->token != token) return {};
    ++next;
  }
  return next == timed.end() ? timed : std::vector<TimedToken>{};
}

}  // namespace

at::Tensor tokens_at_positions(std::span<const BatchSample* const> samples, const Tokenizer& tokenizer,
                               std::int64_t positions, std::int64_t blank) {
  auto all =
      at::full({static_cast<std::int64_t>(samples.size()), positions}, kIgnoredTarget, at::TensorOptions(at::kLong));
  auto* row = all.mutable_data_ptr<std::int64_t>();
  for (const BatchSample* sample : samples) {
    if (!sample->words.empty() || sample->text.empty()) {
      const auto real = std::min<std::int64_t>((sample->frames + 1) / 2, positions);
      std::fill(row, row + real, blank);
      Row spelled(row, real);
      for (const TimedToken& token : timed_tokens(*sample, tokenizer)) spelled.put(token);
    }
    row += positions;
  }
  return all;
}

at::Tensor positions_of_tokens(std::span<const BatchSample* const> samples, std::span<const LabelRow> rows,
                               const Tokenizer& tokenizer, std::int64_t positions) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.targets.size());
  auto all = at::full({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(longest), 2}, -1,
                      at::TensorOptions(at::kLong));
  auto* target = all.mutable_data_ptr<std::int64_t>();
  const auto position = [&](double seconds, std::int64_t most) {
    return std::clamp(static_cast<std::int64_t>(std::floor(seconds * kPositionsPerSecond)), std::int64_t{0}, most);
  };
  for (std::size_t i = 0; i < rows.size(); ++i, target += 2 * longest) {
    const auto timed = places_in(rows[i], *samples[i], tokenizer);
    auto next = timed.begin();
    for (std::size_t j = 0; j < rows[i].targets.size() && next != timed.end(); ++j) {
      if (rows[i].targets[j] >= tokenizer.special().eot) continue;
      target[2 * j] = position(next->start - kMargin, positions - 1);
      target[2 * j + 1] = std::max(position(next->end + kMargin, positions - 1), target[2 * j]) + 1;
      ++next;
    }
  }
  return all;
}

at::Tensor attention_loss_sum(const std::vector<at::Tensor>& watched, const at::Tensor& positions) {
  const auto flat = positions.flatten(0, 1);
  const auto known = flat.select(1, 0).ge(0).nonzero().squeeze(1);
  const auto target = flat.index_select(0, known);
  const auto position = at::arange(watched.front().size(2), target.options()).unsqueeze(0);
  const auto elsewhere = position.lt(target.narrow(1, 0, 1)).logical_or(position.ge(target.narrow(1, 1, 1)));
  auto sum = at::zeros({}, watched.front().options());
  for (const auto& looks : watched)
    sum = sum - looks.flatten(0, 1)
                    .index_select(0, known)
                    .masked_fill(elsewhere, -std::numeric_limits<float>::infinity())
                    .logsumexp(1)
                    .sum();
  return sum / static_cast<double>(watched.size());
}

}  // namespace tutti
