#include "decode/alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include "decode/golden.h"

namespace tutti {
namespace {

TEST(TimeWarp, TakesTheReferencesWayThroughRandomCostsManyOfThemEqual) {
  const auto file = golden("alignment.json");
  for (const auto& expected : file["time_warps"]) {
    const std::vector<float> costs = expected["costs"];
    const std::vector<std::int32_t> starts = expected["starts"];
    EXPECT_EQ(first_columns(costs, expected["rows"], expected["columns"]), starts) << expected.dump();
  }
}

/// The least sum over every monotone way, by trying them all.
float cheapest(std::span<const float> costs, std::size_t rows, std::size_t columns, std::size_t row,
               std::size_t column) {
  float before = row == 0 && column == 0 ? 0.0F : std::numeric_limits<float>::infinity();
  if (row > 0) before = std::min(before, cheapest(costs, rows, columns, row - 1, column));
  if (column > 0) before = std::min(before, cheapest(costs, rows, columns, row, column - 1));
  if (row > 0 && column > 0) before = std::min(before, cheapest(costs, rows, columns, row - 1, column - 1));
  return before + costs[row * columns + column];
}

/// The least that a way costs which first reaches each row at `starts`: it steps down straight where the cell above
/// makes it cheaper, and has to where a row begins below the start of the one before.
float cost_of(std::span<const float> costs, std::size_t columns, const std::vector<std::int32_t>& starts) {
  float sum = 0;
  for (std::size_t row = 0; row < starts.size(); ++row) {
    const auto first = static_cast<std::size_t>(starts[row]);
    const auto next = row + 1 < starts.size() ? static_cast<std::size_t>(starts[row + 1]) : columns;
    for (auto column = first; column < std::max(next, first + 1); ++column) sum += costs[row * columns + column];
    if (next > first && next < columns) sum += std::min(0.0F, costs[row * columns + next]);
  }
  return sum;
}

TEST(TimeWarp, EveryWayIsMonotoneAndNoneIsCheaper) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rows = 1 + random() % 5;
    const std::size_t columns = 1 + random() % 6;
    std::vector<float> costs(rows * columns);
    // No two ways cost the same: between equals the reference's rule may take neither.
    for (auto& cost : costs) cost = normal(random);
    const auto starts = first_columns(costs, rows, columns);
    ASSERT_EQ(starts.size(), rows);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_TRUE(std::ranges::is_sorted(starts));
    EXPECT_LT(starts.back(), static_cast<std::int32_t>(columns));
    EXPECT_NEAR(cost_of(costs, columns, starts), cheapest(costs, rows, columns, rows - 1, columns - 1), 1e-5) << trial;
  }
}

TEST(TimeWarp, AMatrixOfAnotherSizeIsRefused) {
  const std::vector<float> costs(6);
  EXPECT_THROW(first_columns(costs, 2, 2), std::invalid_argument);
  EXPECT_THROW(first_columns({}, 0, 0), std::invalid_argument);
}

TEST(MedianFilter, SmoothsAsTheReferenceDoes) {
  const auto file = golden("alignment.json");
  for (const auto& expected : file["medians"]) {
    const std::vector<float> row = expected["row"];
    const std::vector<float> filtered = expected["filtered"];
    EXPECT_EQ(median_of_seven(row), filtered) << row.size();
  }
}

TEST(MedianFilter, EveryValueIsTheMiddleOfItsSortedNeighbours) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> row(150);
  for (auto& value : row) value = normal(random);
  const auto filtered = median_of_seven(row);
  for (std::size_t i = 3; i + 3 < row.size(); ++i) {
    std::vector<float> around(row.begin() + static_cast<std::ptrdiff_t>(i - 3),
                              row.begin() + static_cast<std::ptrdiff_t>(i + 4));
    std::ranges::sort(around);
    EXPECT_EQ(filtered[i], around[3]) << i;
  }
}

TEST(AttentionMap, FollowsTheDiagonalThatOneOfItsHeadsShows) {
  constexpr std::size_t kTokens = 5;
  constexpr std::size_t kPositions = 50;
  std::vector<float> heads(2 * kTokens * kPositions, -0.1F);
  for (std::size_t token = 0; token < kTokens; ++token) {
    for (std::size_t at = 10 * token; at < 10 * token + 10; ++at) heads[token * kPositions + at] = 1;
  }
  AttentionMap map(kTokens, kPositions);
  map.add(heads);
  EXPECT_EQ(map.starts(), (std::vector<std::int32_t>{0, 10, 20, 30, 40}));
}

constexpr WhisperDims kDims{.n_mels = 8,
                            .n_audio_ctx = 30,
                            .n_audio_state = 32,
                            .n_audio_head = 2,
                            .n_audio_layer = 2,
                            .n_vocab = 400,
                            .n_text_ctx = 20,
                            .n_text_state = 32,
                            .n_text_head = 2,
                            .n_text_layer = 2};
const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

class Alignments : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, Alignments, ::testing::Values(at::kFloat, at::kBFloat16));

TEST_P(Alignments, EveryTokenHasAStartInTheAudioAndAProbability) {
  const auto model = WhisperModel::random(kDims, at::kCPU, GetParam());
  const auto window = model.cross_kv(model.encode(at::sin(at::arange(8 * 60, at::kFloat) * 0.1).view({8, 60})));
  Aligner aligner(model, {{0, 1}, {1, 0}, {1, 1}});
  for (const std::int32_t frames : {60, 41, 2}) {
    const AlignmentText text{.sot_sequence = {301}, .text = {5, 6, 5, 100}, .frames = frames};
    ASSERT_TRUE(check(text, kTokens, kDims).has_value());
    const auto found = aligner.align(window, text, kTokens).value();
    ASSERT_EQ(found.starts.size(), 5U);
    EXPECT_EQ(found.starts.front(), 0);
    EXPECT_TRUE(std::ranges::is_sorted(found.starts));
    EXPECT_LT(found.starts.back(), frames / 2);
    ASSERT_EQ(found.probabilities.size(), 4U);
    for (const auto chance : found.probabilities) EXPECT_TRUE(chance > 0 && chance < 1) << chance;
    EXPECT_EQ(aligner.align(window, text, kTokens)->starts, found.starts) << "the same again";
  }
  const AlignmentText nothing{.sot_sequence = {301}, .frames = 60};
  EXPECT_EQ(aligner.align(window, nothing, kTokens)->starts, std::vector<std::int32_t>{0});
}

TEST(AlignmentCheck, InvalidRequestIsRefusedByFieldName) {
  const AlignmentText audio{.sot_sequence = {301}, .text = {5}, .frames = 60};
  const auto complaint = [](const AlignmentText& text) {
    const auto checked = check(text, kTokens, kDims);
    return checked ? std::string() : checked.error().what;
  };
  EXPECT_EQ(complaint(audio), "");
  auto text = audio;
  text.sot_sequence = {};
  EXPECT_NE(complaint(text).find("sot_sequence is empty"), std::string::npos);
  text.sot_sequence = {400};
  EXPECT_NE(complaint(text).find("token 400"), std::string::npos);
  text = audio;
  text.text = {300};
  EXPECT_NE(complaint(text).find("token 300"), std::string::npos);
  text.text.assign(18, 1);
  EXPECT_NE(complaint(text).find("makes 21 tokens"), std::string::npos);
  text = audio;
  text.frames = 61;
  EXPECT_NE(complaint(text).find("2 to 60"), std::string::npos);
  text.frames = 1;
  EXPECT_NE(complaint(text), "");
}

}  // namespace
}  // namespace tutti
