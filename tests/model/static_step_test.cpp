#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/decoder_step/checked_steps.h"
#include "model/decoder_step/step_buffers.h"
#include "model/golden.h"
#include "model/repeater.h"
#include "model/state.h"
#include "model/weights.h"

namespace tutti {
namespace {

constexpr WhisperDims kSmall{.n_mels = 16,
                             .n_audio_ctx = 45,
                             .n_audio_state = 128,
                             .n_audio_head = 2,
                             .n_audio_layer = 1,
                             .n_vocab = 301,
                             .n_text_ctx = 40,
                             .n_text_state = 128,
                             .n_text_head = 2,
                             .n_text_layer = 3};
constexpr std::int32_t kSlots = 20;

/// A model whose path is a GPU's, on the CPU: torch's products, float32 between them.
class StaticSteps : public testing::TestWithParam<ComputeType::Kind> {
 protected:
  void SetUp() override {
    const c10::InferenceMode guard;
    at::manual_seed(11);
    static_cache_.whole.zero_();  // for comparing: memory that was never written may be NaN
    for (int i = 0; i < 3; ++i) {
      windows_.push_back(model_.cross_kv(model_.encode(at::randn({kSmall.n_mels, 2 * kSmall.n_audio_ctx}))));
    }
    // Slots hold sequences of their own lengths, in both caches the same.
    for (std::int32_t slot = 0; slot < kSlots; ++slot) {
      const auto prompt = some_tokens(1 + slot * 7 % 23);
      const SequenceStep prefill[] = {{.slot = slot, .tokens = prompt, .window = window_of(slot)}};
      model_.decode(prefill, static_cache_);
      model_.decode(prefill, eager_cache_);
      lengths_.push_back(static_cast<std::int32_t>(prompt.size()));
    }
  }

  const CrossKv* window_of(std::int32_t slot) const { return &windows_[static_cast<std::size_t>(slot % 3)]; }

  static std::vector<std::int32_t> some_tokens(std::int64_t count) {
    return token_row(at::randint(0, kSmall.n_vocab, {count}, at::TensorOptions(at::kInt)), 0);
  }

  /// One more token for each of these slots.
  std::vector<SequenceStep> step_of(const std::vector<std::int32_t>& slots) {
    tokens_ = some_tokens(static_cast<std::int64_t>(slots.size()));
    std::vector<SequenceStep> steps;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto& length = lengths_[static_cast<std::size_t>(slots[i])];
      steps.push_back({.slot = slots[i],
                       .position = length++,
                       .tokens = std::span(tokens_).subspan(i, 1),
                       .window = window_of(slots[i])});
    }
    return steps;
  }

  at::Tensor eager(std::span<const SequenceStep> steps) { return model_.decode(steps, eager_cache_); }

  static WhisperModel same_model_every_time() {
    at::manual_seed(10);
    return WhisperModel::random(kSmall, at::kCPU, GetParam());
  }

  WhisperModel model_ = same_model_every_time();
  SelfKv static_cache_ = model_.make_self_kv(kSlots + 1);
  SelfKv eager_cache_ = model_.make_self_kv(kSlots);
  std::vector<CrossKv> windows_{};
  std::vector<std::int32_t> lengths_{};
  std::vector<std::int32_t> tokens_{};
  /// Of whole numbers one on the edge between two may fall to either side.
  double tolerance_ = GetParam() == ComputeType::float16 ? 1e-5 : 5e-4;
};

INSTANTIATE_TEST_SUITE_P(Types, StaticSteps, testing::Values(ComputeType::float16, ComputeType::int8_float16),
                         [](const auto& type) { return std::string(ComputeType(type.param).name()); });

std::vector<std::int32_t> first_slots(std::int32_t count) {
  std::vector<std::int32_t> slots;
  for (std::int32_t i = 0; i < count; ++i) slots.push_back(i * 7 % kSlots);
  return slots;
}

TEST(Buckets, HoldTheRequestedRowsWithAtMostHalfPadding) {
  for (std::int32_t rows = 1; rows <= 300; ++rows) {
    const auto bucket = bucket_for(rows);
    EXPECT_GE(bucket, rows);
    EXPECT_LT(bucket, 2 * rows + (rows == 1));
    EXPECT_EQ(bucket_for(bucket), bucket);
  }
  for (const std::int32_t bucket : {1, 2, 4, 8, 16, 24, 32, 48, 64}) EXPECT_EQ(bucket_for(bucket), bucket);
  EXPECT_EQ(bucket_for(65), 96);
}

TEST(Splits, GiveAProcessorAboutSixBlocksAndAreNeverWithoutPositions) {
  constexpr std::int32_t kH100 = 132;
  for (const std::int64_t heads : {6, 8, 12, 16, 20}) {
    for (const std::int32_t rows : {1, 2, 4, 8, 16, 24, 32, 48, 64, 128}) {
      const auto splits = splits_of(rows, heads, kH100);
      const auto blocks = static_cast<double>(rows * heads * splits) / kH100;
      EXPECT_TRUE(splits == 12 || blocks >= 4) << rows << " x " << heads << " in " << splits;
      EXPECT_TRUE(splits == 1 || blocks <= 8) << rows << " x " << heads << " in " << splits;
    }
  }
  EXPECT_EQ(splits_of(8, 20, kH100), 5);
  EXPECT_EQ(splits_of(40, 20, kH100, 5), 5) << "as many units as eight rows have";
  EXPECT_EQ(splits_of(1, 6, kH100), 12);
  EXPECT_EQ(splits_of(32, 20, kH100), 1);
  EXPECT_EQ(splits_of(1, 1, 1), 6);
}

TEST(StepErrors, TheLargerOneIsKeptAndOneThatIsNoNumberForGood) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(farther(0.2, 0.1), 0.2);
  EXPECT_EQ(farther(0.1, 0.2), 0.2);
  EXPECT_TRUE(std::isnan(farther(none, 0.2)));
  EXPECT_TRUE(std::isnan(farther(0.2, none)));
}

TEST_P(StaticSteps, GiveTheModelsLogitsInEveryBucket) {
  StaticStep step(model_, static_cache_, 1);
  for (const std::int32_t count : {1, 2, 3, 5, 8, 9, 13, 16, 17, 20}) {
    const auto steps = step_of(first_slots(count));
    const auto bucket = bucket_for(count);
    step.upload(steps, bucket);
    step.run(bucket);
    EXPECT_LT(step_distance(step.logits(count), eager(steps)), tolerance_) << count;
  }
}

TEST_P(StaticSteps, GiveTheSameWhereHeadsAreSplitForManyProcessors) {
  StaticStep step(model_, static_cache_, 132);
  for (const std::int32_t count : {1, 7, 20}) {
    const auto steps = step_of(first_slots(count));
    step.upload(steps, bucket_for(count));
    step.run(bucket_for(count));
    EXPECT_LT(step_distance(step.logits(count), eager(steps)), tolerance_) << count;
  }
}

TEST_P(StaticSteps, GiveTheModelsLogitsWhereBeamsReadTheirWindowOnce) {
  const auto prompt = some_tokens(7);
  for (const std::int32_t processors : {1, 132}) {
    StaticStep step(model_, static_cache_, processors, 5);
    EXPECT_TRUE(step.shares_windows());
    for (const auto& [count, beams] : {std::pair(20, 5), {20, 7}, {13, 5}, {8, 2}, {5, 5}, {3, 1}}) {
      auto steps = step_of(first_slots(count));
      // Searches side by side, the last one with fewer beams; then a prompt, and padding.
      for (std::size_t i = 0; i < steps.size(); ++i)
        steps[i].window = &windows_[i / static_cast<std::size_t>(beams) % windows_.size()];
      const auto rows = count + (count < kSlots ? 7 : 0);
      if (count < kSlots) steps.push_back({.slot = 7 * 19 % kSlots, .tokens = prompt, .window = steps.back().window});
      step.upload(steps, bucket_for(rows));
      step.run(bucket_for(rows));
      EXPECT_LT(step_distance(step.logits(rows), eager(steps)), tolerance_) << count << " of " << beams;
    }
  }
}

TEST(SharedRows, AreNeighboursOfOneWindowAndPadding) {
  constexpr StepInputs kInputs{.rows = 16, .layers = 1};
  const auto layer = at::zeros({9, 1, 40, 64});
  const SelfKv cache{.keys = {layer}, .values = {layer}};
  const CrossKv windows[] = {{.layers = {{.keys = layer, .values = layer}}},
                             {.layers = {{.keys = layer, .values = layer}}}};
  const std::int32_t prompt[] = {1, 2, 3};
  std::vector<SequenceStep> steps;
  for (const std::int32_t window : {0, 0, 0, 0, 0, 0, 1, 0})
    steps.push_back(
        {.slot = static_cast<std::int32_t>(steps.size()), .tokens = {prompt, 1}, .window = &windows[window]});
  steps.back().tokens = prompt;
  std::vector<std::byte> block(static_cast<std::size_t>(kInputs.size()));
  write_inputs(kInputs, plan_decoding(steps, kSmall, 8, 40), steps, cache, block.data());
  const auto* shared = reinterpret_cast<const SharedRows*>(block.data() + kInputs.shared());
  std::vector<std::pair<std::int32_t, std::int32_t>> found;
  for (std::int32_t i = 0; i < kInputs.rows; ++i) found.emplace_back(shared[i].first, shared[i].count);
  std::vector<std::pair<std::int32_t, std::int32_t>> expected{{0, 5}, {5, 1}, {6, 1}, {7, 3}, {10, 5}, {15, 1}};
  expected.resize(16);
  EXPECT_EQ(found, expected);
}

TEST_P(StaticSteps, TakeShortPromptsAsRowsBesideTheOthers) {
  CheckedSteps checked(model_, static_cache_, {});
  const auto one = some_tokens(5), other = some_tokens(3);
  const std::int32_t first_and_last[] = {0, 4};
  auto steps = step_of({2, 3, 4});
  // A new sequence between two others, and one that goes on where its slot ended.
  const SequenceStep entering{.slot = 7, .tokens = one, .window = window_of(7), .logits_at = first_and_last};
  const SequenceStep further{.slot = 8, .position = lengths_[8], .tokens = other, .window = window_of(8)};
  steps.insert(steps.begin() + 1, entering);
  steps.push_back(further);
  for (int use = 0; use < 2; ++use) {  // the first compares by itself
    const auto found = checked.decode(steps);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(0), 3 + 2 + 3);
    EXPECT_LT(step_distance(*found, eager(steps)), tolerance_);
  }
  const auto token = some_tokens(1);
  const SequenceStep next[] = {{.slot = 7, .position = 5, .tokens = token, .window = window_of(7)},
                               {.slot = 8, .position = lengths_[8] + 3, .tokens = token, .window = window_of(8)}};
  EXPECT_LT(step_distance(*checked.decode(next), eager(next)), tolerance_) << "their keys and values are in the slots";
}

TEST_P(StaticSteps, LeaveOtherSlotsAloneAndARowAsItIsBesideAnyNeighbours) {
  const c10::InferenceMode guard;
  StaticStep step(model_, static_cache_, 1);
  const auto all = step_of(first_slots(5));
  const auto before = static_cache_.whole.clone();
  step.upload(all, 8);
  step.run(8);
  const auto together = step.logits(5).clone();
  for (std::int32_t slot = 0; slot < kSlots; ++slot) {
    const bool stepped = std::ranges::any_of(all, [&](const SequenceStep& one) { return one.slot == slot; });
    EXPECT_EQ(at::equal(static_cache_.whole.select(1, slot), before.select(1, slot)), !stepped) << slot;
  }
  static_cache_.whole.select(1, kSlots).fill_(1e4);  // what padding left there before does not matter
  std::vector<SequenceStep> other(all.rbegin(), all.rend());
  step.upload(other, 8);
  step.run(8);
  for (std::int64_t row = 0; row < 5; ++row) {
    EXPECT_EQ(distance(step.logits(5)[4 - row], together[row]), 0) << row;
  }
}

TEST_P(StaticSteps, RefuseWhatTheModelRefusesAndPrompts) {
  StaticStep step(model_, static_cache_, 1);
  const std::int32_t two[] = {1, 2};
  const auto refused = [&](const SequenceStep& one) {
    EXPECT_THROW(step.upload(std::span(&one, 1), 1), std::invalid_argument);
  };
  refused({.slot = 0, .tokens = two, .window = &windows_[0]});
  refused({.slot = kSlots, .tokens = std::span(two, 1), .window = &windows_[0]});  // the spare one
  refused({.slot = 0, .position = kSmall.n_text_ctx, .tokens = std::span(two, 1), .window = &windows_[0]});
}

TEST_P(StaticSteps, AreRecordedOnceForABucketAndReplayedWithNewInputs) {
  const auto recorder = std::make_shared<Repeater>();
  const Lines lines;
  CheckedSteps checked(model_, static_cache_, {.recorder = recorder});
  for (const std::int32_t count : {3, 4, 3, 8, 7, 4}) {
    const auto steps = step_of(first_slots(count));
    const auto logits = checked.decode(steps);
    ASSERT_TRUE(logits);
    EXPECT_LT(step_distance(*logits, eager(steps)), tolerance_);
  }
  EXPECT_EQ(recorder->records, 2);  // four and eight
  EXPECT_EQ(recorder->replays, 6);
  EXPECT_TRUE(lines.all.empty()) << lines.all.front();
}

TEST_P(StaticSteps, PreparedSizesAreRecordedBeforeTheirFirstUse) {
  const c10::InferenceMode guard;
  const auto recorder = std::make_shared<Repeater>();
  const Lines lines;
  auto cache = model_.make_self_kv(kSlots + 1);
  CheckedSteps checked(model_, cache, {.recorder = recorder});
  EXPECT_EQ(checked.prepare(windows_[0], 1, kSlots), 6);  // 1, 2, 4, 8, 16 and 24
  EXPECT_EQ(recorder->records, 6);
  EXPECT_EQ(checked.prepare(windows_[0], 1, kSlots), 0);
  EXPECT_EQ(checked.prepare(windows_[0], 1, kSlots + StaticStep::kPromptRows), 3) << "32, 48 and 64, with a prompt";
  cache.whole.copy_(static_cache_.whole);
  for (const std::int32_t count : {1, 2, 3, 7, 16, 20}) {
    const auto steps = step_of(first_slots(count));
    const auto logits = checked.decode(steps);
    ASSERT_TRUE(logits);
    EXPECT_LT(step_distance(*logits, eager(steps)), tolerance_) << count;
  }
  EXPECT_EQ(recorder->records, 9);
  EXPECT_TRUE(lines.all.empty()) << lines.all.front();
}

TEST_P(StaticSteps, SlotsOfFewerPositionsGiveTheSameLogits) {
  const c10::InferenceMode guard;
  constexpr std::int32_t kPositions = 16;
  const auto all_logits = [&](std::int32_t positions) {
    auto cache = model_.make_self_kv(kSlots + 1, positions);
    cache.whole.zero_();
    const auto recorder = std::make_shared<Repeater>();
    CheckedSteps checked(model_, cache, {.recorder = recorder});
    if (positions > 0) checked.prepare(windows_[0], 1, kSlots + StaticStep::kPromptRows);
    EXPECT_EQ(recorder->records, positions > 0 ? 9 : 0) << "also those that take the prompts of several slots";
    at::manual_seed(3);
    std::vector<at::Tensor> logits;
    for (std::int32_t position = 0; position < kPositions; position += position == 0 ? 4 : 1) {
      const auto tokens = some_tokens(position == 0 ? 4 : 1);
      std::vector<SequenceStep> steps;
      for (const std::int32_t slot : {0, 3, 19})
        steps.push_back({.slot = slot, .position = position, .tokens = tokens, .window = window_of(slot)});
      const auto found = checked.decode(steps);
      EXPECT_TRUE(found);
      if (found) logits.push_back(found->clone());
    }
    return at::cat(logits);
  };
  const Lines lines;
  EXPECT_TRUE(at::equal(all_logits(kPositions), all_logits(0)));
  EXPECT_TRUE(lines.all.empty()) << lines.all.front();
}

TEST_P(StaticSteps, WindowsAreNoLongerSharedWhereThatDiffersAndStepsGoOn) {
  /// Recordings that do their work but for the first.
  struct Forgetful : Repeater {
    std::unique_ptr<StepRecording> record(const std::function<void()>& work) override {
      if (records > 0) return Repeater::record(work);
      ++records;
      return std::make_unique<Recording>([] {}, replays);
    }
  };
  const auto recorder = std::make_shared<Forgetful>();
  const Lines lines;
  const StepDevice device{.beams = 5, .recorder = recorder};
  CheckedSteps checked(model_, static_cache_, device);
  EXPECT_FALSE(device.fell_back());
  for (const std::int32_t count : {10, 9}) {
    const auto steps = step_of(first_slots(count));
    const auto logits = checked.decode(steps);
    ASSERT_TRUE(logits);
    EXPECT_LT(step_distance(*logits, eager(steps)), tolerance_) << count;
  }
  EXPECT_EQ(recorder->records, 2);
  EXPECT_TRUE(device.fell_back());
  EXPECT_TRUE(device.trust->kernels);
  EXPECT_THAT(lines.all, testing::ElementsAre(testing::HasSubstr("beams of one window read it one by one")));
}

TEST_P(StaticSteps, PreparingEndsWithTheFirstSizeThatDiffers) {
  /// A recording that does its work but for the third size.
  struct Forgetful : Repeater {
    std::unique_ptr<StepRecording> record(const std::function<void()>& work) override {
      if (records < 2) return Repeater::record(work);
      ++records;
      return std::make_unique<Recording>([] {}, replays);
    }
  };
  const auto recorder = std::make_shared<Forgetful>();
  const Lines lines;
  CheckedSteps checked(model_, static_cache_, {.recorder = recorder});
  checked.prepare(windows_[0], 1, kSlots);
  EXPECT_EQ(recorder->records, 3);
  EXPECT_FALSE(checked.decode(step_of(first_slots(1))));
  EXPECT_EQ(lines.all.size(), 1U);
}

TEST_P(StaticSteps, OutOfMemoryWhileRecordingThrowsAndIsRetried) {
  const auto recorder = std::make_shared<Repeater>();
  recorder->fails = [] { throw KernelError(2, "out of memory"); };
  CheckedSteps checked(model_, static_cache_, {.recorder = recorder});
  const auto steps = step_of(first_slots(2));
  EXPECT_THROW(checked.decode(steps), KernelError);
  recorder->fails = nullptr;
  EXPECT_TRUE(checked.decode(steps));
  EXPECT_EQ(recorder->records, 1);
}

TEST_P(StaticSteps, AreNotTakenByAModelWithFeedForwardLayersOfAnotherWidth) {
  const auto narrow = WhisperModel::over(random_weights({kSmall, 512, 300}), kSmall, at::kCPU, GetParam());
  EXPECT_TRUE(StaticStep::fits(model_));
  EXPECT_FALSE(StaticStep::fits(narrow));
}

TEST_P(StaticSteps, UnrecordableStepsAreEnqueuedEachTimeAndLoggedOnce) {
  const auto recorder = std::make_shared<Repeater>();
  recorder->fails = [] { throw std::runtime_error("operation not permitted when stream is capturing\nfile and line"); };
  const Lines lines;
  CheckedSteps checked(model_, static_cache_, {.recorder = recorder});
  for (const std::int32_t count : {2, 2, 5}) {
    const auto steps = step_of(first_slots(count));
    const auto logits = checked.decode(steps);
    ASSERT_TRUE(logits);
    EXPECT_LT(step_distance(*logits, eager(steps)), tolerance_);
  }
  ASSERT_EQ(lines.all.size(), 1U);
  EXPECT_THAT(lines.all.front(), testing::HasSubstr("not permitted when stream is capturing"));
  EXPECT_THAT(lines.all.front(), testing::Not(testing::HasSubstr("file and line")));
}

TEST_P(StaticSteps, ThatDifferFromTheModelsAreTurnedOffForAllThatShareTheDevice) {
  /// A recording that does not do what was recorded.
  struct Forgetful : StepRecorder {
    struct Nothing : StepRecording {
      void replay() override {}
    };
    std::unique_ptr<StepRecording> record(const std::function<void()>&) override { return std::make_unique<Nothing>(); }
  };
  const StepDevice device{.recorder = std::make_shared<Forgetful>()};
  const Lines lines;
  CheckedSteps checked(model_, static_cache_, device), other(model_, static_cache_, device);
  const auto steps = step_of(first_slots(4));
  const auto expected = eager(steps);
  const auto first = checked.decode(steps);
  ASSERT_TRUE(first);
  EXPECT_EQ(distance(*first, expected), 0) << "the model's own logits stand in";
  EXPECT_FALSE(checked.decode(steps));
  EXPECT_FALSE(other.decode(steps));
  ASSERT_EQ(lines.all.size(), 1U);
  EXPECT_THAT(lines.all.front(), testing::HasSubstr("static decoder steps are off"));
}

/// large-v3 with two decoder layers and, since windows are made up, next to no encoder.
constexpr WhisperDims kLarge{.n_mels = 128,
                             .n_audio_ctx = 1500,
                             .n_audio_state = 1280,
                             .n_audio_head = 20,
                             .n_audio_layer = 1,
                             .n_vocab = 51866,
                             .n_text_ctx = 448,
                             .n_text_state = 1280,
                             .n_text_head = 20,
                             .n_text_layer = 2};

class LargeStaticSteps : public testing::TestWithParam<ComputeType::Kind> {};

INSTANTIATE_TEST_SUITE_P(Types, LargeStaticSteps, testing::Values(ComputeType::float16, ComputeType::int8_float16),
                         [](const auto& type) { return std::string(ComputeType(type.param).name()); });

TEST_P(LargeStaticSteps, GiveTheModelsLogitsAtTheShapeOfLargeV3) {
  const c10::InferenceMode guard;
  at::manual_seed(12);
  const auto model = WhisperModel::random(kLarge, at::kCPU, GetParam());
  constexpr std::int32_t kHeld = 3;
  auto fixed = model.make_self_kv(kHeld + 1), eager = model.make_self_kv(kHeld);
  std::vector<CrossKv> windows;
  for (int i = 0; i < 2; ++i) windows.push_back(model.cross_kv(at::randn({kLarge.n_audio_ctx, kLarge.n_audio_state})));
  const auto tokens = token_row(at::randint(0, kLarge.n_vocab, {440}, at::TensorOptions(at::kInt)), 0);
  const auto sequence = [&](std::int32_t slot, std::int32_t position, std::size_t count) {
    return SequenceStep{.slot = slot,
                        .position = position,
                        .tokens = std::span(tokens).subspan(static_cast<std::size_t>(position), count),
                        .window = &windows[static_cast<std::size_t>(slot % 2)]};
  };
  // Made up, as a prompt of so many tokens takes the CPU's integer products a minute.
  fixed.whole.normal_();
  eager.whole.copy_(fixed.whole.narrow(1, 0, kHeld));
  // Nearly full, short and new, whose prompt goes as rows of the step.
  const SequenceStep steps[] = {sequence(0, 430, 1), sequence(1, 9, 1), sequence(2, 0, 4)};
  const auto wanted = model.decode(steps, eager);
  for (const std::int32_t processors : {1, 132}) {
    StaticStep step(model, fixed, processors);
    step.upload(steps, 8);
    step.run(8);
    EXPECT_LT(step_distance(step.logits(6), wanted), GetParam() == ComputeType::float16 ? 1e-5 : 5e-4) << processors;
  }
}

}  // namespace
}  // namespace tutti
