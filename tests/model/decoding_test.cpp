#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/instruction_sets.h"
#include "model/golden.h"
#include "model/whisper.h"

namespace tutti {
namespace {

/// Heads of 64, as the real models have, so that the CPU's own kernels run; a window of 45 positions.
constexpr WhisperDims kSmall{.n_mels = 16,
                             .n_audio_ctx = 45,
                             .n_audio_state = 128,
                             .n_audio_head = 2,
                             .n_audio_layer = 1,
                             .n_vocab = 300,
                             .n_text_ctx = 40,
                             .n_text_state = 128,
                             .n_text_head = 2,
                             .n_text_layer = 2};

class Decoding : public testing::TestWithParam<ComputeType::Kind> {
 protected:
  WhisperModel model_ = WhisperModel::random(kSmall, at::kCPU, GetParam());
  std::vector<CrossKv> windows_ = {some_window(), some_window(), some_window()};
  std::vector<std::int32_t> tokens_ = some_tokens();
  /// What rounding to the model's type may change in a logit.
  double tolerance_ = GetParam() == ComputeType::float32 ? 1e-4 : 0.15;

  CrossKv some_window() const {
    return model_.cross_kv(model_.encode(at::randn({kSmall.n_mels, 2 * kSmall.n_audio_ctx})));
  }

  static std::vector<std::int32_t> some_tokens() {
    return token_row(at::randint(0, kSmall.n_vocab, {kSmall.n_text_ctx}, at::TensorOptions(at::kInt)), 0);
  }

  std::span<const std::int32_t> tokens(std::size_t first, std::size_t count) const {
    return std::span(tokens_).subspan(first, count);
  }

  /// Logits of every token, decoded at once in a slot of its own.
  at::Tensor all_at_once(const CrossKv& window) const {
    auto cache = model_.make_self_kv(1);
    const SequenceStep whole[] = {{.tokens = tokens_, .window = &window}};
    return model_.decode(whole, cache);
  }
};

INSTANTIATE_TEST_SUITE_P(Types, Decoding,
                         testing::Values(ComputeType::float32, ComputeType::bfloat16, ComputeType::int8),
                         [](const auto& type) { return std::string(ComputeType(type.param).name()); });

TEST_P(Decoding, TokenByTokenGivesWhatAllAtOnceGives) {
  const auto expected = all_at_once(windows_[0]);
  auto cache = model_.make_self_kv(3);
  for (std::int32_t i = 0; i < kSmall.n_text_ctx; ++i) {
    const SequenceStep step[] = {
        {.slot = 1, .position = i, .tokens = tokens(static_cast<std::size_t>(i), 1), .window = &windows_[0]}};
    EXPECT_LT(distance(model_.decode(step, cache)[0], expected[i]), tolerance_) << i;
  }
}

TEST_P(Decoding, APromptInTwoPartsGivesWhatOnePartGives) {
  const auto expected = all_at_once(windows_[0]);
  auto cache = model_.make_self_kv(1);
  const SequenceStep first[] = {{.tokens = tokens(0, 13), .window = &windows_[0]}};
  const SequenceStep second[] = {{.position = 13, .tokens = tokens(13, 27), .window = &windows_[0]}};
  model_.decode(first, cache);
  EXPECT_LT(distance(model_.decode(second, cache), expected.narrow(0, 13, 27)), tolerance_);
}

TEST_P(Decoding, SequencesAtTheirOwnPositionsStepTogetherAsTheyWouldAlone) {
  auto together = model_.make_self_kv(3);
  auto alone = model_.make_self_kv(3);
  const std::int32_t held[] = {5, 17, 1};
  for (std::int32_t slot = 0; slot < 3; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    const SequenceStep prompt[] = {
        {.slot = slot, .tokens = tokens(0, static_cast<std::size_t>(held[at])), .window = &windows_[at]}};
    model_.decode(prompt, together);
    model_.decode(prompt, alone);
  }
  std::vector<SequenceStep> steps;
  for (std::int32_t slot = 0; slot < 3; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    steps.push_back({.slot = slot, .position = held[at], .tokens = tokens(20 + at, 1), .window = &windows_[at]});
  }
  const auto logits = model_.decode(steps, together);
  const double allowed = usable_instructions().has(Instructions::avx2)
                             ? 0
                             : tolerance_;  // torch adds up by how many rows there are, our kernels do not
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto single = model_.decode(std::span(steps).subspan(i, 1), alone);
    EXPECT_LE(distance(single[0], logits[static_cast<std::int64_t>(i)]), allowed) << i;
  }
}

TEST_P(Decoding, APrefillAndAStepShareOneCall) {
  const auto expected = all_at_once(windows_[1]);
  auto cache = model_.make_self_kv(2);
  const SequenceStep prompt[] = {{.slot = 0, .tokens = tokens(0, 9), .window = &windows_[1]}};
  model_.decode(prompt, cache);
  const std::int32_t wanted[] = {2, 10};
  const SequenceStep mixed[] = {{.slot = 1, .tokens = tokens(0, 11), .window = &windows_[1], .logits_at = wanted},
                                {.slot = 0, .position = 9, .tokens = tokens(9, 1), .window = &windows_[1]}};
  const auto logits = model_.decode(mixed, cache);
  ASSERT_EQ(logits.size(0), 3);
  EXPECT_LT(distance(logits[0], expected[2]), tolerance_);
  EXPECT_LT(distance(logits[1], expected[10]), tolerance_);
  EXPECT_LT(distance(logits[2], expected[9]), tolerance_);
}

TEST_P(Decoding, EarlierContentOfASlotHasNoEffect) {
  const auto expected = all_at_once(windows_[0]);
  auto cache = model_.make_self_kv(1);
  const c10::InferenceMode guard;
  for (auto& keys : cache.keys) keys.fill_(1e4);
  for (auto& values : cache.values) values.fill_(1e4);
  const SequenceStep whole[] = {{.tokens = tokens_, .window = &windows_[0]}};
  EXPECT_EQ(distance(model_.decode(whole, cache), expected), 0);
}

TEST_P(Decoding, SlotsOfFewerPositionsGiveTheSameLogits) {
  const auto decode = [&](SelfKv cache) {
    const SequenceStep prompts[] = {{.slot = 0, .tokens = tokens(0, 5), .window = windows_.data()},
                                    {.slot = 1, .tokens = tokens(5, 9), .window = &windows_[1]}};
    std::vector<at::Tensor> logits{model_.decode(prompts, cache)};
    for (std::int32_t i = 0; i < 7; ++i) {
      const auto one = tokens(static_cast<std::size_t>(20 + i), 1);
      const SequenceStep steps[] = {{.slot = 0, .position = 5 + i, .tokens = one, .window = windows_.data()},
                                    {.slot = 1, .position = 9 + i, .tokens = one, .window = &windows_[1]}};
      logits.push_back(model_.decode(steps, cache));
    }
    return at::cat(logits);
  };
  EXPECT_EQ(model_.make_self_kv(2).positions(), kSmall.n_text_ctx);
  const auto shorter = model_.make_self_kv(2, 16);
  EXPECT_EQ(shorter.positions(), 16);
  EXPECT_TRUE(at::equal(decode(shorter), decode(model_.make_self_kv(2))));
}

TEST_P(Decoding, SequencesNeverGoBeyondTheirSlots) {
  auto cache = model_.make_self_kv(2, 16);
  const SequenceStep whole[] = {{.slot = 1, .tokens = tokens(0, 17), .window = windows_.data()}};
  EXPECT_THROW(model_.decode(whole, cache), std::invalid_argument);
  EXPECT_THROW(model_.make_self_kv(1, kSmall.n_text_ctx + 1), std::invalid_argument);
  EXPECT_THROW(model_.make_self_kv(1, -1), std::invalid_argument);
}

TEST_P(Decoding, OutOfRangeStepIsRefusedBeforeAnyWrite) {
  auto cache = model_.make_self_kv(2);
  const std::int32_t beyond[] = {kSmall.n_vocab};
  const std::int32_t row[] = {1};
  const auto refused = [&](const SequenceStep& step) {
    EXPECT_THROW(model_.decode(std::span(&step, 1), cache), std::invalid_argument);
  };
  refused({.slot = 2, .tokens = tokens(0, 1), .window = &windows_[0]});
  refused({.slot = -1, .tokens = tokens(0, 1), .window = &windows_[0]});
  refused({.position = kSmall.n_text_ctx, .tokens = tokens(0, 1), .window = &windows_[0]});
  refused({.tokens = {}, .window = &windows_[0]});
  refused({.tokens = beyond, .window = &windows_[0]});
  refused({.tokens = tokens(0, 1), .window = nullptr});
  refused({.tokens = tokens(0, 1), .window = &windows_[0], .logits_at = row});
  EXPECT_THROW(model_.decode({}, cache), std::invalid_argument);
  for (const std::int64_t frames : {0, 11, 2 * kSmall.n_audio_ctx + 2})
    EXPECT_THROW(model_.encode(at::zeros({kSmall.n_mels, frames})), std::invalid_argument) << frames;
}

}  // namespace
}  // namespace tutti
