// The real tiny.en on real speech: what windows in one batch do to each other, in every compute type there is.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "decode/batcher.h"
#include "decode/fixed_shapes.h"
#include "support/test_data.h"
#include "support/test_models.h"
#include "worker/network.h"

namespace tutti {
namespace {

constexpr std::size_t kWindows = 6;
constexpr std::size_t kJobs = 16;

using Outcomes = std::map<std::uint64_t, DecodeOutcome>;

/// A loaded model and windows of different clips on it.
struct Bench {
  LoadedModel model{};
  std::vector<std::shared_ptr<const CrossKv>> windows{};
};

/// What the model knows: digits for the shared one, readings for OpenAI's.
std::vector<std::filesystem::path> six_clips() {
  std::vector<std::filesystem::path> clips;
  const auto folder =
      has_shared_tiny_model() ? shared_tiny_model() / "clips" : test_data() / "speech/ljspeech" / "wavs";
  for (const char* clip : {"mixed-1.wav", "mixed-2.wav", "string-george.wav", "string-jackson.wav", "string-lucas.wav",
                           "string-nicolas.wav", "LJ001-0001.wav", "LJ001-0003.wav", "LJ001-0002.wav", "LJ001-0004.wav",
                           "LJ001-0006.wav", "LJ001-0008.wav"})
    if (std::filesystem::exists(folder / clip)) clips.push_back(folder / clip);
  EXPECT_EQ(clips.size(), kWindows);
  return clips;
}

/// Nothing where this machine or build does not have the type.
std::optional<Bench> bench_of(const std::string& compute_type) {
  auto model = load_model({.model_path = tiny_model(), .device = "cpu", .compute_type = compute_type});
  if (!model && model.error().fault == Fault::unsupported) return {};
  Bench bench{.model = std::move(model.value())};
  const LogMel log_mel(80);
  for (const auto& clip : six_clips()) {
    const auto recording = decode_recording(clip).value();
    const auto frames = std::min<std::int64_t>(LogMel::content_frames(recording), 3000);
    const auto mel = log_mel.window(recording, 0, frames, log_mel.maximum(recording).value()).value();
    auto window = at::zeros({80, 3000}, at::kFloat);
    window.narrow(1, 0, frames).copy_(at::tensor(mel, at::kFloat).view({80, frames}));
    bench.windows.push_back(std::make_shared<const CrossKv>(bench.model.network->encode(window)));
  }
  return bench;
}

/// Differ in window, previous text and its length, and in how they are searched.
SequenceRequest job_of(const Bench& bench, std::uint64_t number) {
  SequenceRequest job{.request = number, .window = bench.windows[number % kWindows], .max_tokens = 24};
  if (number >= kWindows) {
    job.prompt.push_back(50360);  // sot_prev
    for (std::uint64_t i = 0; i < 5 * (number - kWindows); ++i)
      job.prompt.push_back(static_cast<std::int32_t>(1000 + i * 37));
  }
  job.sot_index = static_cast<std::int32_t>(job.prompt.size());
  job.prompt.push_back(bench.model.sot);
  job.decoding.beam_size = number % 5 == 4 ? 3 : 0;
  job.decoding.suppress_tokens = {50357, 50358, 50257, 50360, 50359, 50361};
  return job;
}

std::vector<std::uint64_t> in_order() {
  std::vector<std::uint64_t> numbers(kJobs);
  for (std::uint64_t i = 0; i < kJobs; ++i) numbers[i] = i;
  return numbers;
}

std::vector<std::uint64_t> shuffled() {
  auto numbers = in_order();
  std::ranges::shuffle(numbers, std::mt19937(5));
  return numbers;
}

Outcomes decode(const Bench& bench, const std::vector<std::uint64_t>& numbers, std::int32_t slots,
                bool fixed_shapes = false) {
  const auto& network = *bench.model.network;
  auto stepper = bench.model.network->make_stepper(slots + (fixed_shapes ? FixedShapeStepper::kRows : 0));
  if (fixed_shapes) stepper = std::make_unique<FixedShapeStepper>(std::move(stepper));
  Batcher batcher(bench.model.tokens, network.dims().n_text_ctx, Clock::real());
  for (const auto number : numbers) batcher.submit(job_of(bench, number));
  Outcomes outcomes;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(*stepper)) outcomes[finished.request] = finished.outcome.value();
  }
  return outcomes;
}

Outcomes decode_alone(const Bench& bench, bool fixed_shapes = false) {
  Outcomes outcomes;
  for (const auto number : in_order()) outcomes.merge(decode(bench, {number}, 3, fixed_shapes));
  return outcomes;
}

/// Jobs that came out with other tokens, and those among them without a step that could have gone either way.
struct Difference {
  int jobs = 0;
  int unexcused = 0;
};

Difference difference(const Outcomes& found, const Outcomes& wanted) {
  Difference between;
  EXPECT_EQ(found.size(), wanted.size());
  for (const auto& [number, outcome] : found) {
    if (outcome.tokens == wanted.at(number).tokens) continue;
    ++between.jobs;
    between.unexcused += outcome.narrow_margins + wanted.at(number).narrow_margins == 0 ? 1 : 0;
  }
  return between;
}

TEST(RealNeighbours, InFloat32BatchesOfFourAndSixteenInAnyOrderChangeNoToken) {
  TUTTI_NEEDS_TINY_MODEL();
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const auto bench = bench_of("float32").value();
  const auto alone = decode_alone(bench);
  for (const std::int32_t slots : {4, 16}) {
    for (const auto& numbers : {in_order(), shuffled()}) {
      const auto between = difference(decode(bench, numbers, slots), alone);
      EXPECT_EQ(between.unexcused, 0) << slots << " slots";
      std::printf("float32, %d slots: %d of %zu jobs differ from alone\n", slots, between.jobs, kJobs);
    }
  }
}

class EveryType : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(RealNeighbours, EveryType, testing::Values("float32", "bfloat16", "int8"),
                         [](const auto& type) { return std::string(type.param); });

/// The logits of window 0 in row 3 of a step of eight, beside seven times `other`.
at::Tensor beside(const Bench& bench, std::size_t other) {
  const auto stepper = bench.model.network->make_stepper(8);
  const std::int32_t sot[] = {bench.model.sot};
  const std::int32_t next = other == 0 ? 50363 : 50370 + static_cast<std::int32_t>(other);
  const std::int32_t own = 50363;
  std::vector<SequenceStep> step;
  for (std::int32_t slot = 0; slot < 8; ++slot) {
    const auto* window = bench.windows[slot == 3 ? 0 : other].get();
    const SequenceStep prompt{.slot = slot, .tokens = sot, .window = window};
    stepper->decode({&prompt, 1});
    step.push_back({.slot = slot, .position = 1, .tokens = {slot == 3 ? &own : &next, 1}, .window = window});
  }
  return stepper->decode(step)[3].clone();
}

TEST_P(EveryType, NeighboursNeverEnterARowsArithmetic) {
  TUTTI_NEEDS_TINY_MODEL();
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const auto bench = bench_of(GetParam());
  if (!bench) GTEST_SKIP() << "another machine: this one has no " << GetParam();
  const auto wanted = beside(*bench, 0);
  for (const std::size_t other : {1U, 2U, 5U}) EXPECT_TRUE(at::equal(beside(*bench, other), wanted)) << other;
}

TEST_P(EveryType, WithFixedShapesNeitherBatchNorOrderChangesASingleBit) {
  TUTTI_NEEDS_TINY_MODEL();
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const auto bench = bench_of(GetParam());
  if (!bench) GTEST_SKIP() << "another machine: this one has no " << GetParam();
  const auto alone = decode_alone(*bench, true);
  for (const auto& [slots, numbers] :
       {std::pair(4, in_order()), std::pair(16, in_order()), std::pair(16, shuffled())}) {
    const auto together = decode(*bench, numbers, slots, true);
    ASSERT_EQ(together.size(), kJobs);
    for (const auto& [number, outcome] : together) {
      EXPECT_EQ(outcome.tokens, alone.at(number).tokens) << number;
      EXPECT_EQ(outcome.sum_logprob, alone.at(number).sum_logprob) << number << " in " << slots;
    }
  }
}

TEST_P(EveryType, DifferencesByBatchShapeAloneAreCounted) {
  TUTTI_NEEDS_TINY_MODEL();
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const auto bench = bench_of(GetParam());
  if (!bench) GTEST_SKIP() << "another machine: this one has no " << GetParam();
  const auto alone = decode_alone(*bench);
  const auto together = decode(*bench, in_order(), 16);
  const auto permuted = decode(*bench, shuffled(), 16);
  const auto by_shape = difference(together, alone);
  const auto by_order = difference(permuted, together);
  std::printf("%s: of %zu jobs %d differ between alone and 16 together, %d between two orders of 16\n", GetParam(),
              kJobs, by_shape.jobs, by_order.jobs);
  EXPECT_LE(by_shape.jobs, 4);
  EXPECT_LE(by_order.jobs, 4);
}

}  // namespace
}  // namespace tutti
