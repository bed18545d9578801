#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "model/checked_encoder.h"
#include "model/decoder_step/byte_heads.h"
#include "model/golden.h"
#include "model/repeater.h"

namespace tutti {
namespace {

constexpr WhisperDims kSmall{.n_mels = 16,
                             .n_audio_ctx = 45,
                             .n_audio_state = 128,
                             .n_audio_head = 2,
                             .n_audio_layer = 3,
                             .n_vocab = 301,
                             .n_text_ctx = 40,
                             .n_text_state = 128,
                             .n_text_head = 2,
                             .n_text_layer = 2};

/// float16 and int8_float16 take a GPU's path, on the CPU; the others its own kernels.
class EncoderBatches : public testing::TestWithParam<ComputeType::Kind> {
 protected:
  static WhisperModel same_model_every_time() {
    at::manual_seed(10);
    return WhisperModel::random(kSmall, at::kCPU, GetParam());
  }

  bool takes_a_gpus_path() const {
    return GetParam() == ComputeType::float16 || GetParam() == ComputeType::int8_float16;
  }

  static at::Tensor some_mels(std::int64_t windows) {
    at::manual_seed(windows);
    return at::randn({windows, kSmall.n_mels, 2 * kSmall.n_audio_ctx});
  }

  /// The largest error of a layer's keys or values, as a part of their length.
  static double worst(const CrossKv& found, const CrossKv& wanted) {
    double worst = found.layers.size() == wanted.layers.size() ? 0 : 1;
    const auto compare = [&](const at::Tensor& one, const at::Tensor& other) {
      worst = std::max(worst, ((one - other).norm() / other.norm()).item<double>());
    };
    for (std::size_t i = 0; i < wanted.layers.size(); ++i) {
      const auto &one = found.layers[i], &other = wanted.layers[i];
      if (other.heads) {
        compare(wide_keys(*one.heads, kSmall.n_audio_ctx), wide_keys(*other.heads, kSmall.n_audio_ctx));
        compare(wide_values(*one.heads), wide_values(*other.heads));
      } else if (other.keys.defined()) {
        compare(one.keys.to(at::kFloat), other.keys.to(at::kFloat));
        compare(one.values.to(at::kFloat), other.values.to(at::kFloat));
      }
    }
    return worst;
  }

  /// Whole numbers on the edge between two may fall to either side.
  double tolerance() const { return GetParam() == ComputeType::int8_float16 ? 2e-3 : 1e-5; }

  void expect_each_alone(const std::vector<CrossKv>& found, const at::Tensor& mels) {
    ASSERT_EQ(std::ssize(found), mels.size(0));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto alone = model_.cross_kv(model_.encode(mels[static_cast<std::int64_t>(i)]));
      EXPECT_LT(worst(found[i], alone), tolerance()) << i;
    }
  }

  const c10::InferenceMode no_autograd_{};
  WhisperModel model_ = same_model_every_time();
};

INSTANTIATE_TEST_SUITE_P(Types, EncoderBatches,
                         testing::Values(ComputeType::float16, ComputeType::int8_float16, ComputeType::float32,
                                         ComputeType::bfloat16),
                         [](const auto& type) { return std::string(ComputeType(type.param).name()); });

TEST_P(EncoderBatches, EqualSingleWindowsWithinRounding) {
  for (const std::int64_t windows : {1, 2, 3, 8}) {
    const auto mels = some_mels(windows);
    const auto encoded = model_.encode(mels);
    ASSERT_EQ(encoded.sizes(), (at::IntArrayRef{windows * kSmall.n_audio_ctx, kSmall.n_audio_state}));
    expect_each_alone(model_.cross_kvs(encoded, mels.size(0)), mels);
    for (std::int64_t i = 0; i < windows; ++i) {
      const auto of_window = encoded.narrow(0, i * kSmall.n_audio_ctx, kSmall.n_audio_ctx);
      const auto alone = model_.encode(mels[i]);
      EXPECT_LT(distance(of_window, alone), 1e-5 * alone.norm().item<double>()) << i;
    }
  }
}

TEST_P(EncoderBatches, OfShortWindowsHaveFewerPositions) {
  if (takes_a_gpus_path()) return;  // a GPU takes whole windows alone
  constexpr std::int64_t kPositions = 7;
  static_assert(kPositions < kSmall.n_audio_ctx);
  const auto mels = some_mels(2).narrow(2, 0, 2 * kPositions);
  const auto encoded = model_.encode(mels);
  ASSERT_EQ(encoded.sizes(), (at::IntArrayRef{2 * kPositions, kSmall.n_audio_state}));
  expect_each_alone(model_.cross_kvs(encoded, 2), mels);
  CheckedEncoder encoder(model_, std::make_shared<Repeater>());
  expect_each_alone(encoder.encode(mels), mels);
}

TEST_P(EncoderBatches, OfTheCpusKernelsAreBitEqualToSingleWindows) {
  if (takes_a_gpus_path()) return;
  const auto mels = some_mels(3);
  const auto encoded = model_.encode(mels).unflatten(0, {3, kSmall.n_audio_ctx});
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(encoded[i], model_.encode(mels[i]))) << i;
}

TEST_P(EncoderBatches, RefuseMelsOfAnotherShape) {
  EXPECT_THROW(model_.encode(at::zeros({kSmall.n_mels})), std::invalid_argument);
  EXPECT_THROW(model_.encode(at::zeros({2, kSmall.n_mels, 9})), std::invalid_argument);
  EXPECT_THROW(model_.encode(at::zeros({2, kSmall.n_mels, 2 * kSmall.n_audio_ctx + 2})), std::invalid_argument);
  EXPECT_THROW(model_.encode(at::zeros({0, kSmall.n_mels, 2 * kSmall.n_audio_ctx})), std::invalid_argument);
  EXPECT_THROW(model_.encode(at::zeros({1, 1, kSmall.n_mels, 2 * kSmall.n_audio_ctx})), std::invalid_argument);
}

TEST_P(EncoderBatches, AreRecordedOnceForASizeAndReplayedWithNewWindows) {
  const auto recorder = std::make_shared<Repeater>();
  const Lines lines;
  CheckedEncoder encoder(model_, recorder);
  for (const std::int64_t windows : {7, 3, 13, 8}) {
    const auto mels = some_mels(windows);
    expect_each_alone(encoder.encode(mels), mels);
  }
  EXPECT_EQ(recorder->records, 4);              // 4, 2, 1 and 8
  EXPECT_EQ(recorder->replays, 3 + 2 + 3 + 1);  // 4 + 2 + 1, 2 + 1, 8 + 4 + 1 and 8
  EXPECT_TRUE(lines.all.empty()) << lines.all.front();
}

TEST_P(EncoderBatches, GiveEachWindowMemoryOfItsOwn) {
  if (!takes_a_gpus_path()) return;
  const auto recorder = std::make_shared<Repeater>();
  CheckedEncoder encoder(model_, recorder);
  const auto kvs = encoder.encode(some_mels(4));
  const auto memory_of = [](const CrossKv& kv) {
    const auto& layer = kv.layers.front();
    return (layer.heads ? layer.heads->keys : layer.keys).storage();
  };
  for (std::size_t i = 1; i < kvs.size(); ++i) EXPECT_FALSE(memory_of(kvs[i]).is_alias_of(memory_of(kvs[0])));
}

TEST_P(EncoderBatches, PreparedSizesAreNotRecordedAgain) {
  const auto recorder = std::make_shared<Repeater>();
  CheckedEncoder encoder(model_, recorder);
  EXPECT_EQ(encoder.prepare(4), 3);
  EXPECT_EQ(encoder.prepare(4), 3);
  const auto mels = some_mels(7);
  expect_each_alone(encoder.encode(mels), mels);
  EXPECT_EQ(recorder->records, 3);
  EXPECT_EQ(CheckedEncoder(model_, nullptr).prepare(4), 0);
}

TEST_P(EncoderBatches, WithoutARecorderAreEncodedAllTheSame) {
  CheckedEncoder encoder(model_, nullptr);
  const auto mels = some_mels(3);
  expect_each_alone(encoder.encode(mels), mels);
}

TEST_P(EncoderBatches, UnrecordableOnesAreEnqueuedEachTimeAndLoggedOnce) {
  const auto recorder = std::make_shared<Repeater>();
  recorder->fails = [] { throw std::runtime_error("operation not permitted when stream is capturing\nfile and line"); };
  const Lines lines;
  CheckedEncoder encoder(model_, recorder);
  for (const std::int64_t windows : {2, 2, 5}) {
    const auto mels = some_mels(windows);
    expect_each_alone(encoder.encode(mels), mels);
  }
  ASSERT_EQ(lines.all.size(), 1U);
  EXPECT_THAT(lines.all.front(), testing::HasSubstr("not permitted when stream is capturing"));
  EXPECT_THAT(lines.all.front(), testing::Not(testing::HasSubstr("file and line")));
}

TEST_P(EncoderBatches, RecordingsThatDifferFromTheEncoderAreTurnedOff) {
  /// A recording that does nothing, so that a replay leaves what was there.
  struct Forgetful : Repeater {
    std::unique_ptr<StepRecording> record(const std::function<void()>& work) override {
      ++records;
      work();
      return std::make_unique<Recording>([] {}, replays);
    }
  };
  const auto recorder = std::make_shared<Forgetful>();
  const Lines lines;
  CheckedEncoder encoder(model_, recorder);
  for (const std::int64_t windows : {4, 5}) {
    const auto mels = some_mels(windows);
    expect_each_alone(encoder.encode(mels), mels);
  }
  EXPECT_EQ(recorder->records, 1);
  ASSERT_EQ(lines.all.size(), 1U);
  EXPECT_THAT(lines.all.front(), testing::HasSubstr("recorded encodings are off"));
}

TEST_P(EncoderBatches, OutOfMemoryWhileRecordingThrowsAndIsRetried) {
  const auto recorder = std::make_shared<Repeater>();
  recorder->fails = [] { throw c10::OutOfMemoryError({}, "out of memory"); };
  CheckedEncoder encoder(model_, recorder);
  const auto mels = some_mels(2);
  EXPECT_THROW(encoder.encode(mels), c10::OutOfMemoryError);
  recorder->fails = nullptr;
  expect_each_alone(encoder.encode(mels), mels);
  EXPECT_EQ(recorder->records, 1);
}

TEST_P(EncoderBatches, StoppedRecordingsAreDroppedForGood) {
  const auto recorder = std::make_shared<Repeater>();
  CheckedEncoder encoder(model_, recorder);
  encoder.prepare(2);
  encoder.stop_recording();
  const auto mels = some_mels(2);
  expect_each_alone(encoder.encode(mels), mels);
  EXPECT_EQ(recorder->records, 2);
  EXPECT_EQ(recorder.use_count(), 1);
}

}  // namespace
}  // namespace tutti
