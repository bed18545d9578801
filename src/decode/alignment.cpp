#include "decode/alignment.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/field_names.h"
#include "model/ops.h"

namespace tutti {
namespace {

constexpr std::size_t kWidth = 7;
constexpr std::size_t kReach = kWidth / 2;
// Windows filtered side by side: short enough for the cache, and what makes the exchanges vector code.
constexpr std::size_t kColumns = 64;

using Columns = std::array<float, kColumns>;

/// After this, `low` holds the smaller of each pair.
void exchange(Columns& low, Columns& high) {
  for (std::size_t c = 0; c < kColumns; ++c) {
    const float a = low[c];
    const float b = high[c];
    low[c] = a < b ? a : b;
    high[c] = a < b ? b : a;
  }
}

/// Bubbles the four largest of seven to the top; the smallest of those is the median.
void bubble(std::array<Columns, kWidth>& window) {
  for (std::size_t top = kWidth - 1; top >= kReach; --top) {
    for (std::size_t i = 0; i < top; ++i) exchange(window[i], window[i + 1]);
  }
}

std::vector<float> mirrored(std::span<const float> row) {
  std::vector<float> wide(row.size() + 2 * kReach + kColumns);  // the columns past the end are filtered and dropped
  for (std::size_t i = 0; i < kReach; ++i) {
    wide[i] = row[kReach - i];
    wide[kReach + row.size() + i] = row[row.size() - 2 - i];
  }
  std::ranges::copy(row, wide.begin() + kReach);
  return wide;
}

}  // namespace

std::vector<float> median_of_seven(std::span<const float> row) {
  if (row.size() <= kReach) return {row.begin(), row.end()};
  const auto wide = mirrored(row);
  std::vector<float> medians(row.size());
  std::array<Columns, kWidth> window;
  for (std::size_t first = 0; first < row.size(); first += kColumns) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      std::copy_n(wide.begin() + static_cast<std::ptrdiff_t>(first + i), kColumns, window[i].begin());
    }
    bubble(window);
    std::copy_n(window[kReach].begin(), std::min(kColumns, row.size() - first),
                medians.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return medians;
}

namespace {

enum class Came : std::uint8_t { diagonally, from_row_above, from_column_before };

/// For every cell the direction its cheapest way comes from.
std::vector<Came> directions(std::span<const float> costs, std::size_t rows, std::size_t columns) {
  constexpr float kNoWay = std::numeric_limits<float>::infinity();
  std::vector<Came> came(rows * columns);
  // Cheapest sums of one row, one column to the right: [0] is before the matrix.
  std::vector<float> above(columns + 1, kNoWay);
  std::vector<float> here(columns + 1, kNoWay);
  above[0] = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    here[0] = kNoWay;
    for (std::size_t column = 0; column < columns; ++column) {
      const float diagonal = above[column];
      const float up = above[column + 1];
      const float before = here[column];
      const auto at = row * columns + column;
      float cheapest = before;
      came[at] = Came::from_column_before;
      if (diagonal < up && diagonal < before) {
        cheapest = diagonal;
        came[at] = Came::diagonally;
      } else if (up < diagonal && up < before) {
        cheapest = up;
        came[at] = Came::from_row_above;
      }
      here[column + 1] = costs[at] + cheapest;
    }
    above.swap(here);
  }
  return came;
}

}  // namespace

std::vector<std::int32_t> first_columns(std::span<const float> costs, std::size_t rows, std::size_t columns) {
  if (rows == 0 || columns == 0 || costs.size() != rows * columns) {
    throw std::invalid_argument("first_columns: a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) +
                                " with " + std::to_string(costs.size()) + " values");
  }
  const auto came = directions(costs, rows, columns);
  std::vector<std::int32_t> first(rows);
  std::size_t column = columns - 1;
  for (std::size_t row = rows; row-- > 0;) {
    // Along the row to where it is entered.
    while (column > 0 && came[row * columns + column] == Came::from_column_before) --column;
    first[row] = static_cast<std::int32_t>(column);
    if (row > 0 && column > 0 && came[row * columns + column] == Came::diagonally) --column;
  }
  return first;
}

AttentionMap::AttentionMap(std::size_t tokens, std::size_t positions)
    : tokens_(tokens), positions_(positions), sum_(tokens * positions) {}

void AttentionMap::add(std::span<const float> heads) {
  for (; !heads.empty(); heads = heads.subspan(sum_.size())) {
    for (std::size_t token = 0; token < tokens_; ++token) {
      const auto smooth = median_of_seven(heads.subspan(token * positions_, positions_));
      std::ranges::transform(smooth, std::span(sum_).subspan(token * positions_, positions_),
                             sum_.begin() + static_cast<std::ptrdiff_t>(token * positions_), std::plus{});
    }
    ++heads_;
  }
}

std::vector<std::int32_t> AttentionMap::starts() const {
  std::vector<float> costs(sum_.size());
  const auto count = static_cast<float>(heads_);
  std::ranges::transform(sum_, costs.begin(), [&](float sum) { return -(sum / count); });
  return first_columns(costs, tokens_, positions_);
}

namespace {

tl::unexpected<Error> refuse(const std::string& what) {
  return fail(Fault::usage, "align request: " + what);
}

/// The whole sequence, and where what concerns the text begins in it.
struct ForcedText {
  std::vector<std::int32_t> tokens{};
  std::size_t first = 0;  // row that predicts the first text token
};

ForcedText forced(const AlignmentText& text, const DecodingTokens& tokens) {
  ForcedText all{.tokens = text.sot_sequence};
  if (tokens.no_timestamps) all.tokens.push_back(*tokens.no_timestamps);
  all.first = all.tokens.size() - 1;
  all.tokens.insert(all.tokens.end(), text.text.begin(), text.text.end());
  all.tokens.push_back(tokens.eot);
  return all;
}

/// Rows that predict a text token.
std::vector<std::int32_t> predicting(std::size_t first, std::size_t count) {
  std::vector<std::int32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::int32_t>(first + i);
  // An empty text predicts nothing, but no rows would mean all of them.
  if (rows.empty()) rows.push_back(static_cast<std::int32_t>(first));
  return rows;
}

std::vector<float> chances(const at::Tensor& logits, const std::vector<std::int32_t>& text, std::int32_t eot) {
  if (text.empty()) return {};
  const auto count = static_cast<std::int64_t>(text.size());
  const auto target_tokens = at::tensor(text, at::kLong).to(logits.device()).unsqueeze(1);
  const auto found = logits.narrow(1, 0, eot).softmax(1).gather(1, target_tokens).to(at::kCPU).contiguous();
  const auto* values = found.const_data_ptr<float>();
  return {values, values + count};
}

/// Softmax over the window's positions, then every position's mean over the tokens removed and its spread made one.
/// scores: [heads, tokens, positions].
at::Tensor normalised(const at::Tensor& scores) {
  const auto weights = scores.softmax(-1);
  const auto [spread, mean] = at::std_mean(weights, /*dim=*/at::IntArrayRef{-2}, /*unbiased=*/false, /*keepdim=*/true);
  // Where all tokens look alike the reference divides zero by zero; that position has no information, so it counts as
  // zero.
  return ((weights - mean) / spread).nan_to_num(0.0, 0.0, 0.0);
}

}  // namespace

Result<void> check(const AlignmentText& text, const DecodingTokens& tokens, const WhisperDims& dims) {
  if (text.sot_sequence.empty()) return refuse("sot_sequence is empty");
  const auto foreign = [&](std::int32_t id) { return id < 0 || id >= dims.n_vocab; };
  if (const auto bad = std::ranges::find_if(text.sot_sequence, foreign); bad != text.sot_sequence.end()) {
    return refuse("sot_sequence holds token " + std::to_string(*bad) + ", the vocabulary has " +
                  std::to_string(dims.n_vocab));
  }
  const auto no_text = [&](std::int32_t id) { return id < 0 || id >= tokens.eot; };
  if (const auto bad = std::ranges::find_if(text.text, no_text); bad != text.text.end()) {
    return refuse("text_tokens holds token " + std::to_string(*bad) + ", text ends below " +
                  std::to_string(tokens.eot));
  }
  const auto length = static_cast<std::int64_t>(forced(text, tokens).tokens.size());
  if (length > dims.n_text_ctx) {
    return refuse("the text makes " + std::to_string(length) + " tokens with what belongs around it, " +
                  std::to_string(dims.n_text_ctx) + " fit");
  }
  if (text.frames < 2 || text.frames > 2 * dims.n_audio_ctx) {
    return refuse("frames must be 2 to " + std::to_string(2 * dims.n_audio_ctx) + ", found " +
                  std::to_string(text.frames));
  }
  return {};
}

Aligner::Aligner(const WhisperModel& model, std::vector<AttentionHead> heads)
    : model_(model), heads_(std::move(heads)) {}

Result<TokenTimes> Aligner::align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens) {
  const c10::InferenceMode no_autograd;
  if (!cache_) cache_ = model_.make_self_kv(1);
  const auto all = forced(text, tokens);
  const auto wanted = predicting(all.first, text.text.size());
  const SequenceStep pass{.tokens = all.tokens, .window = &window, .logits_at = wanted};
  std::vector<at::Tensor> queries;
  const auto logits = model_.decode(std::span(&pass, 1), *cache_, &queries);

  TokenTimes alignment{.probabilities = chances(logits, text.text, tokens.eot)};
  if (std::ranges::any_of(alignment.probabilities, [](float p) { return std::isnan(p); })) {
    return fail(Fault::device, "alignment: the model's output is not a number",
                "Try " + field("compute_type") + " float32");
  }
  const auto positions = text.frames / 2;
  AttentionMap map(text.text.size() + 1, static_cast<std::size_t>(positions));
  for (auto head = heads_.begin(); head != heads_.end();) {
    std::vector<std::int64_t> chosen;
    const auto layer = static_cast<std::size_t>(head->layer);
    for (; head != heads_.end() && static_cast<std::size_t>(head->layer) == layer; ++head) chosen.push_back(head->head);
    const auto scores = ops::attention_scores(queries[layer], window.layers[layer], positions, chosen);
    const auto rows = normalised(scores).narrow(1, static_cast<std::int64_t>(all.first), std::ssize(text.text) + 1);
    const auto here = rows.to(at::kCPU).contiguous();
    map.add({here.const_data_ptr<float>(), static_cast<std::size_t>(here.numel())});
  }
  alignment.starts = map.starts();
  return alignment;
}

}  // namespace tutti
