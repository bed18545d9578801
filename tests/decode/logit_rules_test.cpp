#include "decode/logit_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "decode/formula_logits.h"
#include "decode/golden.h"
#include "decode/sampler.h"
#include "decode/softmax.h"

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
// A vocabulary of ten words, the end, a special token and four times.
const DecodingTokens kSmall{.eot = 10, .timestamp_begin = 12, .no_timestamps = 11, .blank = {3}};

std::vector<std::size_t> allowed(std::span<const float> row) {
  std::vector<std::size_t> ids;
  for (std::size_t id = 0; id < row.size(); ++id) {
    if (row[id] != kNever) ids.push_back(id);
  }
  return ids;
}

TEST(LogitRules, AllowWhatTheReferenceAllowsAfterEveryHistory) {
  const auto file = golden("filters.json");
  for (const auto& [name, cases] : file["cases"].items()) {
    const auto& vocabulary = file["vocabularies"][name];
    const auto tokens = tokens_of(vocabulary);
    for (const auto& expected : cases) {
      std::vector<float> row(vocabulary["n_vocab"].get<std::size_t>());
      formula_logits(row, expected["seed"], expected["position"], 11, tokens);
      const std::vector<std::int32_t> history = expected["history"];
      apply_logit_rules(
          row, history,
          {.suppress_tokens = file["suppress"][name], .max_initial_timestamp = expected["max_initial_timestamp"]},
          tokens);

      const auto ids = allowed(row);
      ASSERT_EQ(ids.size(), expected["allowed"].get<std::size_t>()) << name << expected;
      std::size_t sum = 0;
      for (const auto id : ids) sum += id;
      EXPECT_EQ(sum, expected["allowed_sum"].get<std::size_t>()) << name << expected;
      EXPECT_NEAR(log_sum_exp(row), expected["logsumexp"].get<double>(), 1e-6);
      const auto choice = choose(row, 0, {});
      EXPECT_EQ(choice.token, expected["best"].get<std::int32_t>()) << name << expected;
      EXPECT_NEAR(choice.logprob, expected["logprob"].get<double>(), 2e-6);
    }
  }
}

TEST(LogitRules, WithoutTimestampsOnlyBlankAndSuppressedTokensAreForbidden) {
  std::vector<float> first(16, 1.0F);
  apply_logit_rules(first, {}, {.suppress_tokens = {0, 15}, .timestamps = false}, kSmall);
  EXPECT_EQ(allowed(first), (std::vector<std::size_t>{1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14}));

  std::vector<float> later(16, 1.0F);
  const std::vector<std::int32_t> sampled{1};
  apply_logit_rules(later, sampled, {.suppress_tokens = {0, 15}, .timestamps = false}, kSmall);
  EXPECT_EQ(allowed(later), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}

TEST(LogitRules, TimesTogetherOutweighTextThatIsLikelierThanEachOfThem) {
  std::vector<float> row(16, -20.0F);
  row[5] = 0.0F;
  for (std::size_t id = 12; id < 16; ++id) row[id] = -1.3F;  // 4 * exp(-1.3) = 1.09
  const std::vector<std::int32_t> sampled{1};
  EXPECT_FALSE(apply_logit_rules(row, sampled, {}, kSmall).narrow);
  EXPECT_EQ(allowed(row), (std::vector<std::size_t>{12, 13, 14, 15}));
}

TEST(LogitRules, ANearTieBetweenTextAndTimesIsReported) {
  std::vector<float> row(16, -20.0F);
  row[5] = 0.0F;
  for (std::size_t id = 12; id < 16; ++id) row[id] = -std::log(4.0F) - 5e-5F;
  const std::vector<std::int32_t> sampled{1};
  EXPECT_TRUE(apply_logit_rules(row, sampled, {}, kSmall).narrow);
  EXPECT_TRUE(std::isfinite(row[5]));
}

TEST(LogitRules, TheFirstTimestampMayBeLimitedBeyondTheVocabulary) {
  std::vector<float> row(16, 0.0F);
  apply_logit_rules(row, {}, {.max_initial_timestamp = 50}, kSmall);
  EXPECT_EQ(allowed(row), (std::vector<std::size_t>{12, 13, 14, 15}));
}

}  // namespace
}  // namespace tutti
