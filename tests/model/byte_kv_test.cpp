#include "model/cpu/byte_kv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/cpu/byte_kv_job.h"
#include "model/golden.h"
#include "model/instruction_sets.h"
#include "model/ops.h"

namespace tutti {
namespace {

constexpr std::int64_t kHeads = 2;

/// A window's keys and values side by side, [positions, 2 * 2 * 64], with a dimension that is large everywhere, as
/// trained models have them.
at::Tensor some_window(std::int64_t positions) {
  auto both = at::randn({positions, 4 * 64});
  both.select(1, 5).add_(20);
  both.select(1, 2 * 64 + 9).sub_(10);
  return both;
}

at::Tensor heads_of(const at::Tensor& x) {
  return x.unflatten(1, {kHeads, 64}).transpose(0, 1);
}

/// softmax(q keys^T / 8) values in float64. q: [rows, 128] -> [rows, 128].
at::Tensor exact(const at::Tensor& q, const at::Tensor& both) {
  const auto keys = heads_of(both.narrow(1, 0, 128)).to(at::kDouble);
  const auto values = heads_of(both.narrow(1, 128, 128)).to(at::kDouble);
  const auto scores = at::matmul(heads_of(q).to(at::kDouble), keys.transpose(1, 2)) / 8;
  return at::matmul(scores.softmax(2), values).transpose(0, 1).reshape(q.sizes());
}

class ByteKeysAndValues : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
    at::manual_seed(3);
  }
};

TEST_F(ByteKeysAndValues, AttendAsFloat64DoesWhateverTheNumberOfPositions) {
  for (const std::int64_t positions : {1, 2, 15, 16, 17, 63, 1500}) {
    const auto both = some_window(positions);
    const auto kv = make_byte_kv(both, kHeads);
    const auto q = at::randn({3, 128}) * at::tensor({0.1F, 1.0F, 4.0F}).unsqueeze(1);  // flat to peaked
    auto out = at::full({3, 128}, 7.0);
    attend_byte_rows(q, {{0, kv.get()}, {2, kv.get()}}, out);
    const auto expected = exact(q, both);
    EXPECT_LT(distance(out[0], expected[0]), 0.03) << positions;
    EXPECT_LT(distance(out[2], expected[2]), 0.1) << positions;
    EXPECT_EQ(distance(out[1], at::full({128}, 7.0)), 0) << "a row that was not named was written";
  }
}

TEST_F(ByteKeysAndValues, AreHalfAPartIn127OfEachPositionsLargestNumber) {
  const auto both = some_window(33);
  const auto kv = make_byte_kv(both, kHeads);
  const auto check = [](const at::Tensor& found, const at::Tensor& expected, const char* what) {
    const auto centred = expected - expected.mean(1, /*keepdim=*/true);
    const auto allowed = centred.abs().amax(2, /*keepdim=*/true) / 127 * 0.501 + 1e-5;
    EXPECT_TRUE(((found - expected).abs() <= allowed).all().item<bool>()) << what;
  };
  const auto keys = heads_of(both.narrow(1, 0, 128));
  check(wide_keys(*kv, 33), keys - keys.mean(1, /*keepdim=*/true), "keys");
  check(wide_values(*kv), heads_of(both.narrow(1, 128, 128)), "values");
}

TEST_F(ByteKeysAndValues, ManyRowsOfAPromptSeeWhatSingleRowsSee) {
  const auto both = some_window(100);
  const Layout layout{.own_kernels = true, .cache = at::kBFloat16, .byte_cross = true};
  const auto window = ops::keep_cross(both, kHeads, layout);
  ASSERT_NE(window.bytes, nullptr);
  const auto q = at::randn({40, 128});
  const CrossLayer* windows[] = {&window};
  const ops::SlotRows together[] = {{.first = 0, .count = 40}};
  const auto whole = ops::cross_attention(q, windows, together);
  for (const std::int64_t row : {0, 17, 39}) {
    const ops::SlotRows alone[] = {{.first = 0, .count = 1}};
    const auto single = ops::cross_attention(q.narrow(0, row, 1).contiguous(), windows, alone);
    EXPECT_LT(distance(whole.narrow(0, row, 1), single), 0.03) << row;
  }
}

TEST_F(ByteKeysAndValues, ScoresForAlignmentDifferFromTheExactByTheSameNumberInARow) {
  const auto both = some_window(100);
  const Layout layout{.own_kernels = true, .cache = at::kBFloat16, .byte_cross = true};
  const auto q = at::randn({3, 128});
  const std::int64_t second[] = {1};
  const auto found = ops::attention_scores(q, ops::keep_cross(both, kHeads, layout), 60, second).softmax(2);
  const auto exact = ops::attention_scores(q, ops::keep_cross(both, kHeads, {}), 60, second).softmax(2);
  ASSERT_EQ(found.sizes(), (at::IntArrayRef{1, 3, 60}));
  EXPECT_LT(distance(found, exact), 0.02);
}

TEST_F(ByteKeysAndValues, BeamsOfAWindowSeeWhatEachWouldAlone) {
  const auto one = make_byte_kv(some_window(100), kHeads), other = make_byte_kv(some_window(33), kHeads);
  const auto q = at::randn({9, 128});
  std::vector<ByteRow> rows;
  for (std::int64_t row = 0; row < 9; ++row) rows.push_back({row, row < 7 ? one.get() : other.get()});
  auto together = at::empty({9, 128}), alone = at::empty({9, 128});
  attend_byte_rows(q, rows, together);
  for (const auto& row : rows) attend_byte_rows(q, {row}, alone);
  EXPECT_TRUE(at::equal(together, alone));
}

/// The kernels of one instruction set, by themselves: what this processor has may be more than another's.
class ByteKernels : public testing::TestWithParam<std::pair<Instructions, ByteKvKernels (*)()>> {
 protected:
  void SetUp() override {
    TUTTI_NEEDS_INSTRUCTIONS(GetParam().first);
    kernels_ = GetParam().second();
    at::manual_seed(3);
  }

  ByteKvKernels kernels_{};
};

std::string set_of(const testing::TestParamInfo<ByteKernels::ParamType>& info) {
  return std::string(name_of(info.param.first));
}

INSTANTIATE_TEST_SUITE_P(Sets, ByteKernels,
                         testing::Values(std::pair{Instructions::avx2, &byte_kv_kernels_avx2},
                                         std::pair{Instructions::avxvnni, &byte_kv_kernels_avxvnni},
                                         std::pair{Instructions::vnni, &byte_kv_kernels_vnni}),
                         set_of);

constexpr std::int64_t kPositions = 77, kPadded = 80;

/// One side of a head, packed by the kernels.
struct PackedSide {
  at::Tensor bytes = at::empty({kPadded * 64}, at::kByte), scales = at::empty({kPadded}), mean = at::empty({64});

  ByteKvJob job(const at::Tensor& from) {
    return {.from = from.const_data_ptr<float>(),
            .stride = 64,
            .positions = kPositions,
            .padded = kPadded,
            .scales = scales.mutable_data_ptr<float>(),
            .mean = mean.mutable_data_ptr<float>()};
  }
  std::uint8_t* data() { return bytes.mutable_data_ptr<std::uint8_t>(); }
  std::int8_t* signed_data() { return reinterpret_cast<std::int8_t*>(data()); }
};

/// One head of a window, packed by the kernels.
class PackedHead {
 public:
  PackedHead(const ByteKvKernels& kernels, const at::Tensor& from_keys, const at::Tensor& from_values)
      : kernels_(kernels) {
    kernels.pack_keys(keys_.job(from_keys), keys_.data());
    kernels.pack_values(values_.job(from_values), values_.signed_data());
  }

  /// For the first `rows` of q [5, 64] together; the others are 0.
  at::Tensor attend(const at::Tensor& q, std::int64_t rows) {
    auto out = at::zeros({5, 64});
    kernels_.attend({.q = q.const_data_ptr<float>(),
                     .keys = keys_.data(),
                     .key_scales = keys_.scales.const_data_ptr<float>(),
                     .values = values_.signed_data(),
                     .value_scales = values_.scales.const_data_ptr<float>(),
                     .value_mean = values_.mean.const_data_ptr<float>(),
                     .out = out.mutable_data_ptr<float>(),
                     .rows = rows,
                     .stride = 64,
                     .positions = kPositions,
                     .padded = kPadded},
                    scratch_.data());
    return out;
  }

 private:
  const ByteKvKernels& kernels_;
  PackedSide keys_{}, values_{};
  std::vector<float> scratch_ =
      std::vector<float>(static_cast<std::size_t>(5 * ByteAttentionJob::scratch_size(kPadded)));
};

TEST_P(ByteKernels, AttendToOneHeadWithAnyNumberOfRows) {
  const auto from_keys = at::randn({kPositions, 64}) + 3, from_values = at::randn({kPositions, 64});
  const auto q = at::randn({5, 64});
  PackedHead head(kernels_, from_keys, from_values);
  const auto exact = at::matmul((at::matmul(q, from_keys.t()) / 8).softmax(1), from_values);
  const auto alone = head.attend(q, 1)[0];
  for (std::int64_t rows = 1; rows <= ByteAttentionJob::kMostRows; ++rows) {
    const auto out = head.attend(q, rows);
    EXPECT_LT(distance(out.narrow(0, 0, rows), exact.narrow(0, 0, rows)), 0.03) << rows;
    EXPECT_EQ(out.narrow(0, rows, 5 - rows).abs().sum().item<float>(), 0) << "a row behind the last was written";
    EXPECT_TRUE(at::equal(out[0], alone)) << rows;
  }
}

TEST_P(ByteKernels, KeepNanWithinItsOwnRow) {
  PackedHead head(kernels_, at::randn({kPositions, 64}), at::randn({kPositions, 64}));
  const auto q = at::randn({5, 64});
  for (const float none : {NAN, -INFINITY})
    for (std::int64_t rows = 1; rows <= ByteAttentionJob::kMostRows; ++rows) {
      const auto expected = head.attend(q, rows);
      auto spoiled = q.clone();
      spoiled[rows - 1][17 * (rows - 1) % 64] = none;
      const auto out = head.attend(spoiled, rows);
      EXPECT_TRUE(out[rows - 1].isnan().all().item<bool>()) << none << " in row " << rows - 1;
      EXPECT_TRUE(at::equal(out.narrow(0, 0, rows - 1), expected.narrow(0, 0, rows - 1))) << rows;
    }
}

}  // namespace
}  // namespace tutti
