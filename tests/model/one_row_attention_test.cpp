#include "model/cpu/one_row_attention.h"

#include <gtest/gtest.h>

#include "model/cpu/one_row_attention_job.h"
#include "model/golden.h"
#include "model/instruction_sets.h"

namespace tutti {
namespace {

/// softmax(q keys^T / 8) values in float64, per head. q: [n].
at::Tensor exact(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values) {
  const auto heads = keys.size(0);
  const auto question = q.to(at::kDouble).view({heads, 64, 1});
  const auto scores = at::matmul(keys.to(at::kDouble), question).squeeze(2) / 8;
  const auto weights = scores.softmax(1).unsqueeze(1);
  return at::matmul(weights, values.to(at::kDouble)).reshape({heads * 64});
}

class OneRowAttentionOfType : public testing::TestWithParam<at::ScalarType> {};

INSTANTIATE_TEST_SUITE_P(Types, OneRowAttentionOfType, testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto& type) { return std::string(c10::toString(type.param)); });

TEST_P(OneRowAttentionOfType, EveryLengthGivesWhatFloat64Gives) {
  TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
  const double tolerance = GetParam() == at::kFloat ? 1e-5 : 0.02;
  const auto q = at::randn({3, 128}) * 4;  // peaked and flat distributions
  const auto keys = at::randn({2, 100, 64}).to(GetParam());
  const auto values = at::randn({2, 100, 64}).to(GetParam());
  ASSERT_TRUE(is_row_attention(q, keys));
  for (const std::int64_t length : {1, 2, 15, 16, 17, 99, 100}) {
    auto out = at::zeros_like(q);
    attend_rows(q, {{0, keys, values, length}, {2, keys, values, length}}, out);
    const auto expected = [&](std::int64_t row) {
      return exact(q[row], keys.narrow(1, 0, length), values.narrow(1, 0, length));
    };
    EXPECT_LT(distance(out[0], expected(0)), tolerance) << length;
    EXPECT_LT(distance(out[2], expected(2)), tolerance) << length;
    EXPECT_EQ(distance(out[1], at::zeros({128})), 0) << "a row that was not named was written";
  }
}

TEST(OneRowAttention, ScoresFarApartNeitherOverflowNorVanish) {
  TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
  const auto q = at::full({1, 64}, 100.0);
  auto keys = at::zeros({1, 3, 64});
  keys[0][1].fill_(100);
  keys[0][2].fill_(-100);
  const auto values = at::randn({1, 3, 64});
  auto out = at::empty_like(q);
  attend_rows(q, {{0, keys, values, 3}}, out);
  EXPECT_LT(distance(out[0], values[0][1]), 1e-6);
}

TEST(OneRowAttention, EverySetOfInstructionsComputesTheSame) {
  const auto q = at::randn({64});
  const auto keys = at::randn({1, 50, 64});
  const auto values = at::randn({1, 50, 64});
  for (const auto& one : sets_of_this_processor()) {
    auto out = at::empty({64});
    std::vector<float> scratch(64);
    const OneRowAttention<float> job{q.const_data_ptr<float>(),
                                     keys.const_data_ptr<float>(),
                                     values.const_data_ptr<float>(),
                                     out.mutable_data_ptr<float>(),
                                     50,
                                     0.125f};
    attend_by(one.sets, job, scratch.data());
    EXPECT_LT(distance(out, exact(q, keys, values)), 1e-6) << one.name();
  }
}

TEST(OneRowAttention, EverySetOfInstructionsComputesTheSameInBfloat16) {
  const auto q = at::randn({64});
  const auto keys = at::randn({1, 1500, 64}).to(at::kBFloat16);
  const auto values = at::randn({1, 1500, 64}).to(at::kBFloat16);
  const auto stored = [](const at::Tensor& tensor) {
    return reinterpret_cast<const std::uint16_t*>(tensor.const_data_ptr<at::BFloat16>());
  };
  for (const std::int64_t length : {1, 33, 1500}) {
    const auto expected = exact(q, keys.narrow(1, 0, length), values.narrow(1, 0, length));
    for (const auto& one : sets_of_this_processor()) {
      auto out = at::empty({64});
      std::vector<float> scratch(static_cast<std::size_t>(OneRowAttention<std::uint16_t>::scratch_size(length)));
      const OneRowAttention<std::uint16_t> job{q.const_data_ptr<float>(),     stored(keys), stored(values),
                                               out.mutable_data_ptr<float>(), length,       0.125f};
      attend_by(one.sets, job, scratch.data());
      // Those of pairs round the weights, and q, to bfloat16.
      EXPECT_LT(distance(out, expected), 0.004) << one.name() << ", length " << length;
    }
  }
}

}  // namespace
}  // namespace tutti
