// A worker over the network that GPUs run, on the CUDA that records and computes nothing. Without cuDNN, which is not in it:
// convolutions and attention are torch's own.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/recorded_device.h"
#include "model/checked_encoder.h"
#include "model/repeater.h"
#include "worker/network.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

using recording_cuda::take_calls;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecordedWorker : public testing::Test {
 protected:
  void SetUp() override { use_cudnn(false); }
  void TearDown() override {
    use_cudnn(true);
    recording_cuda::heal();
  }
  static void use_cudnn(bool use) {
    at::globalContext().setUserEnabledCuDNN(use);
    at::globalContext().setSDPUseCuDNN(use);
  }
};

TEST_F(RecordedWorker, PreparedEncodingsAreOneGraphAndTheirWindowsProducts) {
  const c10::InferenceMode guard;
  const auto model = recorded_model(ComputeType::float16);
  CheckedEncoder encoder(model, gpu::make_recorder(0));
  const Lines lines;
  EXPECT_EQ(encoder.prepare(8), 4);
  EXPECT_THAT(lines.all, IsEmpty());
  const auto mels = at::zeros({8, kRecordedDims.n_mels, 2 * kRecordedDims.n_audio_ctx}, at::kHalf).pin_memory();
  encoder.encode(mels);
  take_calls();
  const auto windows = encoder.encode(mels);
  const auto calls = take_calls();
  ASSERT_EQ(windows.size(), 8U);
  EXPECT_EQ(std::ranges::count(calls.launches, "graph"), 1);
  EXPECT_EQ(calls.waits, 0);
  EXPECT_EQ(calls.allocations, 0);
  printf("ENC %zu copies %d\n", calls.launches.size(), calls.copies);
  for (auto& one : calls.launches) printf("  %s\n", one.substr(0, 150).c_str());
}

TEST_F(RecordedWorker, NoMemoryForAnEncodersGraphIsOutOfMemory) {
  const auto model = recorded_model(ComputeType::float16);
  CheckedEncoder encoder(model, gpu::make_recorder(0));
  const Lines lines;
  recording_cuda::refuse_graphs();
  EXPECT_ANY_THROW(encoder.prepare(1));
  recording_cuda::heal();
  EXPECT_EQ(encoder.prepare(1), 1);
  EXPECT_THAT(lines.all, IsEmpty());
}

TEST_F(RecordedWorker, ShortMemoryHalvesSlotsAndAnswersEveryRequest) {
  const auto load = [](const LoadModel& request) -> Result<LoadedModel> {
    auto network = make_network(recorded_model(ComputeType::float16));
    gpu::release_cached_memory();
    recording_cuda::limit_memory(std::size_t{100} << 20);
    return LoadedModel{.network = std::move(network),
                       .tokens = kRecordedTokens,
                       .sot = 299,
                       .slots = 256,
                       .beams = request.beams,
                       .encoded_together = 2,
                       .device_name = "recording",
                       .compute_type = "float16"};
  };
  WorkerHere worker(load);
  worker.control->expect<Hello>();
  worker.control->send(LoadModel{.compute_type = "float16", .beams = 1});
  for (bool ready = false; !ready;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    ready = std::holds_alternative<Ready>(*message);
    if (const auto* line = std::get_if<LogLine>(&*message)) printf("LINE %s\n", line->text.c_str());
  }
  const std::vector<float> mel(static_cast<std::size_t>(kRecordedDims.n_mels * 2 * kRecordedDims.n_audio_ctx));
  for (WindowId window = 1; window <= 3; ++window) {
    worker.control->open(window, kRecordedDims.n_mels, 2 * kRecordedDims.n_audio_ctx, mel);
    worker.control->send(DecodeWindow{.window = window, .request = 1, .prompt = {1, 2}, .max_tokens = 5});
  }
  std::vector<std::string> lines;
  for (int answers = 0; answers < 3;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    if (const auto* failed = std::get_if<Failed>(&*message)) FAIL() << failed->what;
    if (const auto* line = std::get_if<LogLine>(&*message)) lines.push_back(line->text);
    answers += std::holds_alternative<Decoded>(*message);
  }
  EXPECT_THAT(lines, ElementsAre("x"));
}

}  // namespace
}  // namespace tutti
