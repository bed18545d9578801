#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/decoder_step/attend.h"
#include "model/decoder_step/byte_heads.h"
#include "model/decoder_step/kernels.h"
#include "model/decoder_step/step_device.h"
#include "model/golden.h"

namespace tutti {
namespace {

constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kWidth = kHeads * 64;

/// What rounding to a type may change in a number of about one.
double rounding(at::ScalarType type) {
  return type == at::kFloat ? 1e-6 : type == at::kHalf ? 1e-3 : 8e-3;
}

at::Tensor random(at::IntArrayRef sizes, at::ScalarType type) {
  return at::randn(sizes).to(type);
}

class StepKernelsOf : public testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override { at::manual_seed(5); }
  at::ScalarType type() const { return GetParam(); }
  Number number() const { return number_of(GetParam()); }
  const StepKernels& kernels_ = host_step_kernels();
};

INSTANTIATE_TEST_SUITE_P(Types, StepKernelsOf, testing::Values(at::kFloat, at::kHalf, at::kBFloat16),
                         [](const auto& type) { return std::string(c10::toString(type.param)); });

/// Keys or values of one sequence, [heads, positions, 64].
struct Sequence {
  at::Tensor keys{}, values{};
  std::int32_t length = 1;
};

/// softmax(q keys^T / 8) values in float64. q: [heads * 64] -> the same.
at::Tensor exact(const at::Tensor& q, const Sequence& sequence) {
  const auto seen = [&](const at::Tensor& all) { return all.to(at::kDouble).narrow(1, 0, sequence.length); };
  const auto query = q.to(at::kDouble).view({kHeads, 1, 64});
  const auto scores = at::matmul(query, seen(sequence.keys).transpose(1, 2)) / 8;
  return at::matmul(scores.softmax(2), seen(sequence.values)).reshape({kWidth});
}

constexpr std::int32_t kLengths[] = {1, 2, 7, 8, 31, 32, 33, 255, 256, 257, 448, 1000, 1499, 1500};

TEST_P(StepKernelsOf, AttendAsFloat64DoesWhateverTheLengthsBesideEachOther) {
  std::vector<Sequence> sequences;
  std::vector<KvRow> table;
  for (const auto length : kLengths) {
    sequences.push_back({random({kHeads, 1500, 64}, type()), random({kHeads, 1500, 64}, type()), length});
    table.push_back({sequences.back().keys.data_ptr(), sequences.back().values.data_ptr(), length});
  }
  const auto rows = static_cast<std::int32_t>(table.size());
  const auto qkv = random({rows, 3 * kWidth}, type());  // queries are strided
  for (const std::int32_t splits : {1, 3, 8}) {
    auto out = at::full({rows, kWidth}, 7.0, at::TensorOptions(type()));
    std::vector<float> scratch(static_cast<std::size_t>(rows * kHeads * splits * kPartial));
    kernels_.attend({.activation = number(),
                     .cache = number(),
                     .q = qkv.data_ptr(),
                     .q_stride = 3 * kWidth,
                     .out = out.data_ptr(),
                     .table = table.data(),
                     .rows = rows,
                     .heads = kHeads,
                     .positions = 1500,
                     .splits = splits,
                     .scratch = scratch.data()},
                    nullptr);
    for (std::int32_t row = 0; row < rows; ++row) {
      const auto expected = exact(qkv[row].narrow(0, 0, kWidth), sequences[static_cast<std::size_t>(row)]);
      EXPECT_LT(distance(out[row], expected), 4 * rounding(type())) << kLengths[row] << " in " << splits;
    }
  }
}

TEST_P(StepKernelsOf, AttendToEveryLengthFromOneToFifteenHundred) {
  const Sequence sequence{random({1, 1500, 64}, type()), random({1, 1500, 64}, type())};
  const auto q = random({1, 64}, type());
  std::vector<KvRow> table;
  for (std::int32_t length = 1; length <= 1500; ++length) {
    table.push_back({sequence.keys.data_ptr(), sequence.values.data_ptr(), length});
  }
  const auto rows = static_cast<std::int32_t>(table.size());
  auto out = at::empty({rows, 64}, at::TensorOptions(type()));
  kernels_.attend({.activation = number(),
                   .cache = number(),
                   .q = q.data_ptr(),  // all rows have the same query: a stride of zero
                   .out = out.data_ptr(),
                   .table = table.data(),
                   .rows = rows,
                   .heads = 1,
                   .positions = 1500},
                  nullptr);
  // The softmax of a prefix is the whole one's, divided by the prefix's part of it.
  const auto scores = at::matmul(sequence.keys[0].to(at::kDouble), q[0].to(at::kDouble)) / 8;
  const auto weights = (scores - scores.max()).exp();
  const auto sums = (weights.unsqueeze(1) * sequence.values[0].to(at::kDouble)).cumsum(0);
  EXPECT_LT(distance(out, sums / weights.cumsum(0).unsqueeze(1)), 4 * rounding(type()));
}

TEST_P(StepKernelsOf, AttendToWindowsInEightBitsAsToTheNumbersThatTheyStandFor) {
  for (const std::int64_t positions : {1, 5, 45, 1500}) {
    auto both = random({positions, 2 * kWidth}, type());
    both.select(1, 5).add_(20);
    both.select(1, kWidth + 9).sub_(10);
    const auto window = make_byte_heads(both, kHeads);
    const Sequence wide{wide_keys(*window, positions), wide_values(*window), static_cast<std::int32_t>(positions)};
    const KvRow row{window->keys.data_ptr(), window->values.data_ptr(), wide.length};
    const std::vector<KvRow> table{row, row};
    const auto q = random({2, kWidth}, type());
    for (const std::int32_t splits : {1, 4}) {
      auto out = at::empty_like(q);
      std::vector<float> scratch(static_cast<std::size_t>(2 * kHeads * splits * kPartial));
      kernels_.attend({.activation = number(),
                       .cache = Number::int8,
                       .q = q.data_ptr(),
                       .q_stride = kWidth,
                       .out = out.data_ptr(),
                       .table = table.data(),
                       .rows = 2,
                       .heads = kHeads,
                       .positions = static_cast<std::int32_t>(positions),
                       .splits = splits,
                       .scratch = scratch.data()},
                      nullptr);
      for (const std::int64_t i : {0, 1}) {
        EXPECT_LT(distance(out[i], exact(q[i], wide)), 16 * rounding(type())) << positions << " in " << splits;
      }
    }
  }
}

/// Runs of rows that see the same: a search of five, a single row, padding of one position, beams of another search,
/// and groups without rows.
constexpr SharedRows kShared[] = {{0, 5}, {5, 1}, {6, 2}, {8, 5}, {13, 3}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
constexpr std::int32_t kSeen[] = {0, 0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};  // by row: of the windows
static_assert(std::size(kShared) == std::size(kSeen));

/// Attention of rows that share windows, and of the same rows by themselves.
struct SharedAttention {
  AttendJob job{};
  at::Tensor out{};

  at::Tensor run(const StepKernels& kernels, bool shared, std::int32_t splits) {
    std::vector<float> scratch(static_cast<std::size_t>(job.rows * kHeads * splits * kPartial), NAN);
    out.fill_(7);
    job.shared = shared ? kShared : nullptr;
    job.splits = splits;
    job.scratch = scratch.data();
    kernels.attend(job, nullptr);
    return out.clone();
  }
};

TEST_P(StepKernelsOf, RowsThatShareAWindowAttendAsFloat64DoesAndAsAlone) {
  constexpr auto kRows = static_cast<std::int32_t>(std::size(kSeen));
  for (const std::int32_t length : {1, 96, 97, 450}) {
    std::vector<Sequence> windows;
    for (const auto seen : {length, 450, 1, 7}) {
      windows.push_back({random({kHeads, 450, 64}, type()), random({kHeads, 450, 64}, type()), seen});
    }
    std::vector<KvRow> table;
    for (const auto seen : kSeen) {
      const auto& window = windows[static_cast<std::size_t>(seen)];
      table.push_back({window.keys.data_ptr(), window.values.data_ptr(), window.length});
    }
    const auto qkv = random({kRows, 3 * kWidth}, type());
    SharedAttention attention{.job = {.activation = number(),
                                      .cache = number(),
                                      .q = qkv.data_ptr(),
                                      .q_stride = 3 * kWidth,
                                      .table = table.data(),
                                      .rows = kRows,
                                      .heads = kHeads,
                                      .positions = 450},
                              .out = at::empty({kRows, kWidth}, at::TensorOptions(type()))};
    attention.job.out = attention.out.data_ptr();
    for (const std::int32_t splits : {1, 5}) {
      const auto found = attention.run(kernels_, true, splits), alone = attention.run(kernels_, false, splits);
      EXPECT_LT(distance(found, alone), 4 * rounding(type())) << length << " in " << splits;
      for (std::int32_t row = 0; row < kRows; ++row) {
        const auto expected = exact(qkv[row].narrow(0, 0, kWidth), windows[static_cast<std::size_t>(kSeen[row])]);
        EXPECT_LT(distance(found[row], expected), 4 * rounding(type())) << row << ": " << length << " in " << splits;
      }
    }
  }
}

TEST_P(StepKernelsOf, RowsComeOutTheSameHoweverManyShareTheirWindow) {
  const Sequence window{random({kHeads, 450, 64}, type()), random({kHeads, 450, 64}, type()), 450};
  const std::vector<KvRow> table(5, KvRow{window.keys.data_ptr(), window.values.data_ptr(), 450});
  const auto q = random({5, kWidth}, type());
  const auto attended = [&](std::vector<SharedRows> shared) {
    auto out = at::empty({5, kWidth}, at::TensorOptions(type()));
    kernels_.attend({.activation = number(),
                     .cache = number(),
                     .q = q.data_ptr(),
                     .q_stride = kWidth,
                     .out = out.data_ptr(),
                     .table = table.data(),
                     .shared = shared.data(),
                     .rows = 5,
                     .heads = kHeads,
                     .positions = 450},
                    nullptr);
    return out;
  };
  const auto together = attended({{0, 5}, {}, {}, {}, {}});
  EXPECT_TRUE(at::equal(attended({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}), together));
  EXPECT_TRUE(at::equal(attended({{0, 2}, {2, 3}, {}, {}, {}}), together));
}

TEST_P(StepKernelsOf, RowsThatShareAWindowInEightBitsAttendAsToItsNumbers) {
  constexpr auto kRows = static_cast<std::int32_t>(std::size(kSeen));
  for (const std::int64_t positions : {1, 45, 200}) {
    std::vector<std::shared_ptr<const ByteHeads>> windows;
    std::vector<Sequence> wide;
    for (int i = 0; i < 4; ++i) {
      auto both = random({positions, 2 * kWidth}, type());
      both.select(1, 5).add_(20);
      both.select(1, kWidth + 9).sub_(10);
      windows.push_back(make_byte_heads(both, kHeads));
      wide.push_back(
          {wide_keys(*windows.back(), positions), wide_values(*windows.back()), static_cast<std::int32_t>(positions)});
    }
    std::vector<KvRow> table;
    for (const auto seen : kSeen) {
      const auto& window = *windows[static_cast<std::size_t>(seen)];
      table.push_back({window.keys.data_ptr(), window.values.data_ptr(), static_cast<std::int32_t>(positions)});
    }
    const auto q = random({kRows, kWidth}, type());
    SharedAttention attention{.job = {.activation = number(),
                                      .cache = Number::int8,
                                      .q = q.data_ptr(),
                                      .q_stride = kWidth,
                                      .table = table.data(),
                                      .rows = kRows,
                                      .heads = kHeads,
                                      .positions = static_cast<std::int32_t>(positions)},
                              .out = at::empty_like(q)};
    attention.job.out = attention.out.data_ptr();
    for (const std::int32_t splits : {1, 4}) {
      const auto found = attention.run(kernels_, true, splits);
      for (std::int32_t row = 0; row < kRows; ++row) {
        const auto expected = exact(q[row], wide[static_cast<std::size_t>(kSeen[row])]);
        EXPECT_LT(distance(found[row], expected), 16 * rounding(type()))
            << row << ": " << positions << " in " << splits;
      }
    }
  }
}

TEST_P(StepKernelsOf, PackAWindowHalfAPartIn127OfEachPositionsLargestNumberAway) {
  for (const std::int64_t positions : {1, 45, 128, 129, 1500}) {  // up to twelve parts
    auto both = random({positions, 2 * kWidth}, type());
    both.select(1, 5).add_(20);
    const auto window = make_byte_heads(both, kHeads);
    const auto check = [&](const at::Tensor& found, std::int64_t first, bool centred, const char* what) {
      const auto numbers = both.narrow(1, first, kWidth).to(at::kFloat).unflatten(1, {kHeads, 64}).transpose(0, 1);
      const auto mean = numbers.mean(1, /*keepdim=*/true);
      const auto allowed = (numbers - mean).abs().amax(2, /*keepdim=*/true) / 127 * 0.501 + 1e-5;
      EXPECT_TRUE(((found - (centred ? numbers - mean : numbers)).abs() <= allowed).all().item<bool>())
          << what << " of " << positions;
    };
    check(wide_keys(*window, positions), 0, true, "keys");
    check(wide_values(*window), kWidth, false, "values");
  }
}

TEST_P(StepKernelsOf, PackAPartAsIfItsHeadHadNoOtherWhereMeansAreEqual) {
  const auto part = random({kPackPositions, 2 * kWidth}, type());
  const auto whole = make_byte_heads(part.repeat({5, 1}), kHeads), one = make_byte_heads(part, kHeads);
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto found = wide_keys(*whole, 5 * kPackPositions).narrow(1, i * kPackPositions, kPackPositions);
    EXPECT_LT(distance(found, wide_keys(*one, kPackPositions)), 0.05) << i;  // a step of a number that is between two
  }
  EXPECT_LT(distance(wide_values(*whole).narrow(1, 0, kPackPositions), wide_values(*one)), 0.05);
}

TEST_P(StepKernelsOf, AppendWritesKeysAndValuesWhereTheTablesSayAndNowhereElse) {
  const auto qkv = random({2, 3 * kWidth}, type());
  auto keys = at::full({4, kHeads, 10, 64}, 7.0, at::TensorOptions(type()));
  auto values = keys.clone();
  const std::int32_t slots[] = {3, 0}, positions[] = {9, 4};
  kernels_.append({.activation = number(),
                   .qkv = qkv.data_ptr(),
                   .keys = keys.data_ptr(),
                   .values = values.data_ptr(),
                   .slots = slots,
                   .positions = positions,
                   .rows = 2,
                   .heads = kHeads,
                   .capacity = 10},
                  nullptr);
  auto expected_keys = at::full({4, kHeads, 10, 64}, 7.0, at::TensorOptions(type()));
  auto expected_values = expected_keys.clone();
  for (const std::int64_t row : {0, 1}) {
    const auto put = [&](at::Tensor& cache, std::int64_t part) {
      cache[slots[row]].select(1, positions[row]).copy_(qkv[row].narrow(0, part * kWidth, kWidth).view({kHeads, 64}));
    };
    put(expected_keys, 1);
    put(expected_values, 2);
  }
  EXPECT_TRUE(at::equal(keys, expected_keys));
  EXPECT_TRUE(at::equal(values, expected_values));
}

TEST_P(StepKernelsOf, EmbedAddsTheRowsOfTwoTables) {
  const auto table = random({50, kWidth}, type()), positional = random({20, kWidth}, type());
  const std::int32_t tokens[] = {49, 0, 7}, positions[] = {0, 19, 7};
  auto out = at::empty({3, kWidth}, at::TensorOptions(type()));
  kernels_.embed({.activation = number(),
                  .table = table.data_ptr(),
                  .positional = positional.data_ptr(),
                  .tokens = tokens,
                  .positions = positions,
                  .out = out.data_ptr(),
                  .rows = 3,
                  .n = kWidth},
                 nullptr);
  for (const std::int64_t row : {0, 1, 2}) {
    EXPECT_TRUE(at::equal(out[row], positional[positions[row]] + table[tokens[row]]));
  }
}

TEST_P(StepKernelsOf, NormAddsAProductWithItsBiasAndNormalises) {
  const auto options = at::TensorOptions(type());
  const auto before = random({3, kWidth}, type()), y = random({3, kWidth}, type()), bias = random({kWidth}, type());
  const auto weight = random({kWidth}, type()), shift = random({kWidth}, type());
  const auto added = (before.to(at::kDouble) + (y.to(at::kDouble) + bias.to(at::kDouble)));
  const auto expected = at::layer_norm(added, {kWidth}, weight.to(at::kDouble), shift.to(at::kDouble));
  auto x = before.clone();
  auto out = at::empty({3, kWidth}, options);
  NormJob job{.activation = number(),
              .x = x.data_ptr(),
              .add = {.numbers = y.data_ptr(), .bias = bias.data_ptr()},
              .weight = weight.data_ptr(),
              .bias = shift.data_ptr(),
              .out = {out.data_ptr()},
              .rows = 3,
              .n = kWidth};
  kernels_.norm(job, nullptr);
  EXPECT_LT(distance(x, added), 8 * rounding(type()));
  EXPECT_LT(distance(out, expected), 16 * rounding(type()));

  auto high = at::empty({3, kWidth}, at::TensorOptions(at::kChar)), low = at::empty_like(high);
  auto scales = at::empty({3}, at::TensorOptions(at::kFloat));
  job.add = {};
  job.out = {high.data_ptr(), low.data_ptr<std::int8_t>(), scales.data_ptr<float>()};
  const auto x_before = x.clone();
  kernels_.norm(job, nullptr);
  EXPECT_TRUE(at::equal(x, x_before)) << "nothing was to be added";
  EXPECT_LT(distance(scales, out.to(at::kFloat).abs().amax(1) / (127 * 128)), 1e-8);
  const auto unpacked = (high.to(at::kFloat) * 128 + low) * scales.unsqueeze(1);
  EXPECT_LT(distance(unpacked, out), 0.51 * scales.max().item<double>());
}

TEST_P(StepKernelsOf, FinishTurnsWholeSumsIntoNumbersAndAppliesGelu) {
  const auto sums = at::randint(-30000, 30000, {3, kWidth}, at::TensorOptions(at::kInt));
  const auto low = at::randint(-30000, 30000, {3, kWidth}, at::TensorOptions(at::kInt));
  const auto rows = at::rand({3}) * 1e-4, columns = at::rand({kWidth}) * 0.01, bias = at::randn({kWidth});
  const auto plain = (sums.to(at::kDouble) * 128 + low) * rows.unsqueeze(1) * columns + bias;
  auto out = at::empty({3, kWidth}, at::TensorOptions(type()));
  FinishJob job{.activation = number(),
                .sums = {.numbers = sums.data_ptr(),
                         .low = low.data_ptr<std::int32_t>(),
                         .bias = bias.data_ptr(),
                         .row_scales = rows.data_ptr<float>(),
                         .column_scales = columns.data_ptr<float>()},
                .out = {out.data_ptr()},
                .rows = 3,
                .n = kWidth};
  kernels_.finish(job, nullptr);
  EXPECT_LT(distance(out, plain), 8 * rounding(type()));
  job.gelu = true;
  kernels_.finish(job, nullptr);
  EXPECT_LT(distance(out, at::gelu(plain)), 8 * rounding(type()));
}

TEST(StepNumbers, HalvesAndBfloatsAreTorchs) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto short_bits = static_cast<std::uint16_t>(bits);
    const float half = at::Half(short_bits, at::Half::from_bits()), found = widened(Half{short_bits});
    EXPECT_TRUE(found == half || (std::isnan(found) && std::isnan(half))) << bits;
    EXPECT_TRUE(std::isnan(half) || narrowed<Half>(half).bits == short_bits) << bits;
    const float bfloat = at::BFloat16(short_bits, at::BFloat16::from_bits());
    EXPECT_TRUE(std::isnan(bfloat) || narrowed<Bfloat>(widened(Bfloat{short_bits})).bits == short_bits) << bits;
  }
  const auto numbers = at::cat({at::randn({20000}), at::randn({20000}) * 1e-6, at::randn({20000}) * 3e4});
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    const float number = numbers.const_data_ptr<float>()[i];
    EXPECT_EQ(narrowed<Half>(number).bits, at::Half(number).x) << number;
    EXPECT_EQ(narrowed<Bfloat>(number).bits, at::BFloat16(number).x) << number;
  }
  EXPECT_TRUE(std::isnan(widened(narrowed<Half>(NAN))));
  EXPECT_TRUE(std::isnan(widened(narrowed<Bfloat>(NAN))));
  EXPECT_EQ(widened(narrowed<Half>(1e9F)), INFINITY);
}

}  // namespace
}  // namespace tutti
