// What a network computes does not depend on how many threads compute it, nor on which of them takes what.
#include "model/cpu/compute_team.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "model/cpu/parallel.h"
#include "model/instruction_sets.h"
#include "model/whisper.h"

namespace tutti {
namespace {

constexpr WhisperDims kDims{.n_mels = 16,
                            .n_audio_ctx = 200,
                            .n_audio_state = 128,
                            .n_audio_head = 2,
                            .n_audio_layer = 2,
                            .n_vocab = 3000,
                            .n_text_ctx = 48,
                            .n_text_state = 128,
                            .n_text_head = 2,
                            .n_text_layer = 2};

/// Torch's number of threads for a while, which is the compute team's, too.
class Threads {
 public:
  explicit Threads(int threads) : usual_(at::get_num_threads()) { at::set_num_threads(threads); }
  Threads(const Threads&) = delete;
  ~Threads() { at::set_num_threads(usual_); }

 private:
  int usual_;
};

/// Logits of a prefill and of steps of seven sequences over two windows.
std::vector<at::Tensor> results(const WhisperModel& model) {
  const c10::InferenceMode no_autograd;
  std::vector<CrossKv> windows;
  for (const double speed : {0.01, 0.013}) {
    const auto mel = at::sin(at::arange(16 * 400, at::kFloat) * speed).view({16, 400});
    windows.push_back(model.cross_kv(model.encode(mel)));
  }
  auto cache = model.make_self_kv(7);
  const std::vector<std::int32_t> tokens{5, 200, 7, 1400};
  std::vector<SequenceStep> steps;
  for (std::int32_t i = 0; i < 7; ++i)
    steps.push_back({.slot = i, .tokens = tokens, .window = &windows[static_cast<std::size_t>(i / 5)]});
  std::vector<at::Tensor> all{model.decode(steps, cache).clone()};
  for (std::int32_t position = 4; position < 8; ++position) {
    for (auto& step : steps) {
      step.position = position;
      step.tokens = std::span(tokens).first(1);
    }
    all.push_back(model.decode(steps, cache).clone());
  }
  return all;
}

class ComputeTeam : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(OfType, ComputeTeam, testing::Values("float32", "bfloat16", "int8"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ComputeTeam, ResultsAreTheSameBitsWithAnyThreads) {
  TUTTI_NEEDS_INSTRUCTIONS(Instructions::avx2);
  at::manual_seed(3);
  const auto model = WhisperModel::random(kDims, at::kCPU, *ComputeType::named(GetParam()));
  std::vector<at::Tensor> with_one;
  {
    const Threads one(1);
    with_one = results(model);
  }
  for (const int threads : {2, 3, 5, 5}) {
    const Threads more(threads);
    const auto with_more = results(model);
    ASSERT_EQ(with_more.size(), with_one.size());
    for (std::size_t i = 0; i < with_one.size(); ++i)
      EXPECT_TRUE(at::equal(with_more[i], with_one[i])) << threads << " threads, call " << i;
  }
}

TEST(SetComputeThreads, ObeysARequestAndElseTheQuota) {
  const Threads four(4);
  set_compute_threads(0, 8);
  EXPECT_EQ(at::get_num_threads(), 4) << "more cores than torch chose";
  set_compute_threads(3, 1);
  EXPECT_EQ(at::get_num_threads(), 3) << "requested";
  set_compute_threads(0, 2);
  EXPECT_EQ(at::get_num_threads(), 2) << "a quota of two cores";
}

TEST(LoopThreads, FollowTorchesNumber) {
  const Threads three(3);
  EXPECT_EQ(loop_threads(), 3);
}

TEST(LoopThreads, AreOneInsideALoopOfTorches) {
  const Threads two(2);
  at::parallel_for(0, 2, 1, [](std::int64_t, std::int64_t) { EXPECT_EQ(loop_threads(), 1); });
}

TEST(LoopThreads, AreNoMoreInAStepThanOutside) {
  const Threads four(4);
  {
    const StepThreads step(1);
    EXPECT_GE(loop_threads(), 1);
    EXPECT_LE(loop_threads(), 4);
  }
  EXPECT_EQ(loop_threads(), 4);
}

TEST(ForEachUnit, OperatorsOfTorchInHelpersStartNoTeamOfTheirOwn) {
  const Threads four(4);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> most = 0;
  for_each_unit(64, [&](std::int64_t) {
    if (std::this_thread::get_id() != caller) most = std::max(most.load(), at::get_num_threads());
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  EXPECT_LE(most, 1);
}

}  // namespace
}  // namespace tutti
