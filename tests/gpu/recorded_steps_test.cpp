// What a decoder step with its token selection makes a GPU do: torch's CUDA operators and libtutti-cuda.so run on a
// CUDA that records and computes nothing (support/recording_cuda), so calls are counted and faults injected without a
// GPU.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decode/device_token_selector.h"
#include "decode/step_logits.h"
#include "gpu/recorded_device.h"
#include "model/repeater.h"
#include "support/environment.h"
#include "worker/caught_fault.h"

namespace tutti {
namespace {

using recording_cuda::Calls;
using recording_cuda::take_calls;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int32_t kSlots = 8;
constexpr int kLaunchFailure = 719, kNoKernelImage = 209;  // cudaError_t

/// What decoding makes of what `work` throws.
CaughtFault fault_of(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    return caught_fault("decoding");
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// A stepper on the device that records.
struct Recorded {
  explicit Recorded(ComputeType type) : model(recorded_model(type)) {}

  /// Sequences that have their prompt and some tokens.
  std::vector<Sequence> live(std::size_t count) const {
    std::vector<Sequence> all;
    for (std::size_t i = 0; i < count; ++i) {
      auto job = std::make_shared<RequestProgress>();
      job->job = {.window = window, .prompt = {1, 2}};
      all.push_back({.of = std::move(job),
                     .slot = static_cast<std::int32_t>(i),
                     .sample = {.tokens = {310, 5}, .sum_logprob = -1.5, .steps = 2}});
    }
    return all;
  }

  struct StepCalls {
    Calls network{};
    Calls selection{};
  };

  /// A decoder step of all of them and the selection of their tokens.
  StepCalls step(const std::vector<Sequence>& sequences) {
    StepCalls calls;
    take_calls();
    const StepLogits logits(stepper, sequences, /*stay=*/true);
    calls.network = take_calls();
    EXPECT_EQ(selector.select_tokens(logits.rows(), sequences, kRecordedTokens).size(), sequences.size());
    calls.selection = take_calls();
    return calls;
  }

  WhisperModel model;
  std::shared_ptr<const CrossKv> window = std::make_shared<const CrossKv>(
      model.cross_kv(model.upload(at::zeros({kRecordedDims.n_audio_ctx, kRecordedDims.n_audio_state}))));
  StepDevice device = gpu_step_device(0, /*record=*/true);
  ModelStepper stepper{model, kSlots, device};
  DeviceTokenSelector selector{};
};

/// Enqueued one by one: no more launches than a graph has, and neither waits nor new memory. A layer has 14 or, with
/// int8 products, 17; then there are the embedding and the logits' norm, product and conversion.
void expect_enqueued(const Calls& calls, ComputeType type = ComputeType::float16) {
  const auto of_layer = type == ComputeType::int8_float16 ? 17 : 14;
  EXPECT_THAT(calls.launches, Not(Contains("graph")));
  EXPECT_THAT(calls.launches, Contains(HasSubstr("AttendBody")));
  EXPECT_LE(std::ssize(calls.launches), of_layer * kRecordedDims.n_text_layer + 4);
  EXPECT_EQ(calls.waits, 0);
  EXPECT_EQ(calls.allocations, 0);
}

class RecordedSteps : public testing::TestWithParam<ComputeType::Kind>, protected Recorded {
 protected:
  RecordedSteps() : Recorded(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Types, RecordedSteps,
                         testing::Values(ComputeType::float32, ComputeType::float16, ComputeType::bfloat16,
                                         ComputeType::int8_float16),
                         [](const auto& type) { return std::string(ComputeType(type.param).name()); });

TEST_P(RecordedSteps, PreparedStepIsACopyAndAGraphAndWaitsOnce) {
  stepper.prepare(*window, 1, kSlots);
  step(live(kSlots));  // the selection's first use
  for (const std::size_t count : {1U, 3U, 8U, 5U}) {
    const auto calls = step(live(count));
    EXPECT_THAT(calls.network.launches, ElementsAre("graph")) << count;
    EXPECT_EQ(calls.network.copies, 1) << count;
    EXPECT_EQ(calls.network.waits, 0) << count;
    EXPECT_EQ(calls.selection.copies, 2) << count;
    EXPECT_EQ(calls.selection.waits, 1) << count;
    EXPECT_THAT(calls.selection.launches, ElementsAre(HasSubstr("SelectBody"))) << count;
    EXPECT_EQ(calls.network.allocations + calls.selection.allocations, 0) << count;
  }
}

TEST_P(RecordedSteps, PromptBesideSequencesTakesAtMostTwoLaunches) {
  stepper.prepare(*window, 1, kSlots);
  auto sequences = live(4);
  sequences[1].sample = {};
  sequences[1].of->job.prompt = {1, 2, 3, 4};
  step(sequences);
  const auto calls = step(sequences);
  EXPECT_LE(calls.network.launches.size(), 2U);
  EXPECT_EQ(calls.selection.launches.size(), 1U) << "with the probability of no speech";
  EXPECT_EQ(calls.network.waits, 0);
  EXPECT_EQ(calls.selection.waits, 1);
  EXPECT_EQ(calls.network.allocations + calls.selection.allocations, 0);
}

TEST_P(RecordedSteps, GraphHasTheLaunchesOfAStepWithoutGraphs) {
  step(live(kSlots));
  ModelStepper enqueued(model, kSlots, gpu_step_device(0, /*record=*/false));
  const StepLogits first_use(enqueued, live(kSlots), /*stay=*/true);
  take_calls();
  const StepLogits logits(enqueued, live(kSlots), /*stay=*/true);
  const auto calls = take_calls();
  expect_enqueued(calls, GetParam());
  EXPECT_EQ(calls.launches, recording_cuda::last_graph());
}

TEST_P(RecordedSteps, BeamsThatShareWindowsAreAGraphOfAsManyLaunches) {
  ModelStepper beams(model, kSlots, with_beams(device, 5));
  beams.prepare(*window, 1, kSlots);
  take_calls();
  const StepLogits logits(beams, live(kSlots), /*stay=*/true);
  const auto calls = take_calls();
  EXPECT_THAT(calls.launches, ElementsAre("graph"));
  EXPECT_EQ(calls.copies, 1);
  EXPECT_EQ(calls.waits, 0);
  EXPECT_EQ(calls.allocations, 0);
  ModelStepper enqueued(model, kSlots, with_beams(gpu_step_device(0, /*record=*/false), 5));
  const StepLogits first_use(enqueued, live(kSlots), /*stay=*/true);
  take_calls();
  const StepLogits again(enqueued, live(kSlots), /*stay=*/true);
  const auto launches = take_calls();
  expect_enqueued(launches, GetParam());
  EXPECT_THAT(launches.launches, Contains(HasSubstr("AttendSharedBody")).Times(kRecordedDims.n_text_layer));
}

class RecordedFaults : public testing::Test, protected Recorded {
 protected:
  RecordedFaults() : Recorded(ComputeType::float16) {}
  void TearDown() override { recording_cuda::heal(); }
};

TEST_F(RecordedFaults, NoMemoryForSlotsIsOutOfMemory) {
  recording_cuda::limit_memory(0);
  EXPECT_TRUE(fault_of([&] { ModelStepper(model, 4096, device); }).out_of_memory);
}

TEST_F(RecordedFaults, NoMemoryForAGraphIsOutOfMemoryAndAGraphLater) {
  const Lines lines;
  recording_cuda::refuse_graphs();
  EXPECT_TRUE(fault_of([&] { step(live(2)); }).out_of_memory);
  recording_cuda::heal();
  step(live(2));
  EXPECT_THAT(step(live(2)).network.launches, ElementsAre("graph"));
  EXPECT_THAT(lines.all, IsEmpty());
}

TEST_F(RecordedFaults, FailedLaunchIsAFatalErrorThatNamesTheKernel) {
  recording_cuda::fail_launches("AttendBody", kLaunchFailure);
  const auto fault = fault_of([&] { step(live(2)); });
  EXPECT_TRUE(fault.fatal);
  EXPECT_EQ(fault.error.fault, Fault::device);
  EXPECT_EQ(fault.error.what, "decoding: CUDA error: unspecified launch failure (kernel attend)");
}

TEST_F(RecordedFaults, FailedGraphIsAFatalErrorOfTheDevice) {
  stepper.prepare(*window, 1, kSlots);
  recording_cuda::fail_launches("graph", kLaunchFailure);
  const auto fault = fault_of([&] { step(live(2)); });
  EXPECT_TRUE(fault.fatal);
  EXPECT_EQ(fault.error.what, "decoding: CUDA error: unspecified launch failure");
}

TEST_F(RecordedFaults, InvalidatedCaptureGoesOnWithoutGraphsAndOneWarning) {
  const Lines lines;
  recording_cuda::invalidate_captures();
  step(live(2));
  recording_cuda::heal();  // a later one would succeed
  expect_enqueued(step(live(2)).network);
  step(live(5));
  expect_enqueued(step(live(5)).network);
  EXPECT_THAT(lines.all, ElementsAre("decoder steps are not recorded, each is enqueued again: CUDA error: operation "
                                     "failed due to a previous error during capture"));
}

TEST_F(RecordedFaults, LaunchThatFailsInACaptureGoesOnWithoutGraphs) {
  const Lines lines;
  recording_cuda::fail_launches("AttendBody", kLaunchFailure, /*captured=*/true);
  step(live(2));
  expect_enqueued(step(live(2)).network);
  EXPECT_THAT(lines.all, ElementsAre(HasSubstr("unspecified launch failure (kernel attend)")));
}

TEST_F(RecordedFaults, KernelsWithoutCodeForTheCardLeaveStepsToTorch) {
  const Lines lines;
  recording_cuda::fail_launches("EmbedBody", kNoKernelImage);
  step(live(2));
  EXPECT_THAT(step(live(2)).network.launches, Not(Contains(HasSubstr("AttendBody"))));
  EXPECT_THAT(lines.all, ElementsAre(HasSubstr("are not recorded"), HasSubstr("static decoder steps are off")));
}

TEST_F(RecordedFaults, WithoutAKernelTokensAreSelectedByTorch) {
  const Lines lines;
  step(live(2));
  recording_cuda::fail_launches("SelectBody", kNoKernelImage);
  for (int time = 0; time < 2; ++time) {
    const auto calls = step(live(2)).selection;
    EXPECT_GT(calls.launches.size(), 20U);
    EXPECT_LE(calls.launches.size(), 35U);
    EXPECT_EQ(calls.waits, 1);
  }
  EXPECT_THAT(lines.all, ElementsAre(HasSubstr("tokens are selected by torch's operators")));
}

TEST_F(RecordedFaults, StepsApartHaveNoKernelOfSharedWindows) {
  const ScopedVariable apart("TUTTI_STEP", "apart");
  ModelStepper enqueued(model, kSlots, with_beams(gpu_step_device(0, /*record=*/false), 5));
  const StepLogits first_use(enqueued, live(kSlots), /*stay=*/true);
  take_calls();
  const StepLogits again(enqueued, live(kSlots), /*stay=*/true);
  EXPECT_THAT(take_calls().launches, Not(Contains(HasSubstr("AttendSharedBody"))));
}

TEST_F(RecordedFaults, EagerStepsSelectTokensByTorch) {
  const ScopedVariable eager("TUTTI_STEP", "eager");
  selector = DeviceTokenSelector{};
  EXPECT_THAT(step(live(2)).selection.launches, Not(Contains(HasSubstr("SelectBody"))));
}

TEST(GraphRecorder, WaitWithinACaptureIsAnErrorAndTheNextWorkIsRecorded) {
  const c10::InferenceMode guard;
  const auto numbers = at::zeros({4}, at::TensorOptions(kRecordedDevice));
  const auto recorder = gpu::make_recorder(0);
  EXPECT_THAT(fault_of([&] { recorder->record([&] { numbers.sum().item(); }); }).error.what,
              HasSubstr("not permitted when stream is capturing"));
  const auto recording = recorder->record([&] { numbers.add_(1); });
  take_calls();
  recording->replay();
  const auto calls = take_calls();
  EXPECT_THAT(calls.launches, ElementsAre("graph"));
  EXPECT_EQ(recording_cuda::last_graph().size(), 1U);
}

}  // namespace
}  // namespace tutti
