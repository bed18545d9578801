// A worker over the network that GPUs run, on the CUDA that records and computes nothing. Without cuDNN, which is not
// in it: convolutions and attention are torch's own.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/recorded_device.h"
#include "model/checked_encoder.h"
#include "model/repeater.h"
#include "worker/network.h"
#include "worker/window_server.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

using recording_cuda::take_calls;
using testing::Contains;
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
  for (const auto type : {ComputeType::float16, ComputeType::int8_float16}) {
    const auto model = recorded_model(type);
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
    EXPECT_EQ(calls.copies, 1) << "the mels, once";
    EXPECT_EQ(calls.waits, 0);
    EXPECT_EQ(calls.allocations, 0);
    // A layer's product, and a copy of each window's keys and values; in eight bits their sums and their packing.
    EXPECT_LE(std::ssize(calls.launches), 1 + kRecordedDims.n_text_layer * (1 + 2 * 8));
  }
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

TEST_F(RecordedWorker, WindowsReceivedInTurnAreOneUploadOfTheirBatch) {
  const c10::InferenceMode guard;
  std::vector<std::string> failures;
  WindowServer server(
      {.network = make_network(recorded_model(ComputeType::float16)),
       .tokens = kRecordedTokens,
       .sot = 299,
       .slots = 8,
       .encoded_together = 8},
      [&](const ToControl& answer) {
        if (const auto* failed = std::get_if<Failed>(&answer)) failures.push_back(failed->what);
      },
      Clock::real());
  ASSERT_TRUE(server.prepare());
  const auto open = [&](WindowId first, WindowId last) {
    for (auto window = first; window <= last; ++window) {
      const OpenWindow message{.window = window, .n_mels = kRecordedDims.n_mels, .frames = 20};
      const auto mel = SharedWindow::create(std::vector<float>(kRecordedDims.n_mels * std::size_t{20}, 1)).value();
      server.open(message, server.mels()->receive(message, OwnedFd(::dup(mel.fd()))));
    }
  };
  const auto calls_of = [&](WindowId first, WindowId last) {
    open(first, last);
    take_calls();
    while (server.has_work()) server.work();
    const auto calls = take_calls();
    for (auto window = first; window <= last; ++window) server.release({.window = window});
    return calls;
  };
  calls_of(1, 8);  // torch keeps the memory of their keys and values
  const auto calls = calls_of(9, 16);
  EXPECT_EQ(std::ranges::count(calls.launches, "graph"), 1);
  EXPECT_EQ(calls.copies, 1);
  EXPECT_EQ(calls.allocations, 0);
  EXPECT_THAT(failures, IsEmpty());
}

/// A worker of 256 slots on a device that has `left` bytes beside the network's own.
class WorkerOnDevice : public WorkerHere {
 public:
  explicit WorkerOnDevice(std::size_t left)
      : WorkerHere([left](const LoadModel& request) -> Result<LoadedModel> {
          auto network = make_network(recorded_model(ComputeType::float16));
          gpu::release_cached_memory();
          recording_cuda::limit_memory(left);
          return LoadedModel{.network = std::move(network),
                             .tokens = kRecordedTokens,
                             .sot = 299,
                             .slots = 256,
                             .beams = request.beams,
                             .encoded_together = 2,
                             .device_name = "recording",
                             .compute_type = "float16"};
        }) {
    control->expect<Hello>();
    control->send(LoadModel{.compute_type = "float16", .beams = 1});
    control->expect<Ready>();
  }

  void open(WindowId window) {
    constexpr auto kFrames = 2 * kRecordedDims.n_audio_ctx;
    const std::vector<float> mel(static_cast<std::size_t>(kRecordedDims.n_mels * kFrames));
    control->open(window, kRecordedDims.n_mels, kFrames, mel);
  }
  void request(WindowId window) {
    open(window);
    control->send(DecodeWindow{.window = window, .request = 1, .prompt = {1, 2}, .max_tokens = 5});
  }
};

TEST_F(RecordedWorker, ShortMemoryHalvesSlotsAndAnswersEveryRequest) {
  const Lines lines;
  WorkerOnDevice worker(std::size_t{100} << 20);  // 256 slots take 170 MiB
  for (WindowId window = 1; window <= 3; ++window) worker.request(window);
  std::vector<std::string> reports;
  for (int answers = 0; answers < 3;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    if (const auto* failed = std::get_if<Failed>(&*message)) FAIL() << failed->what;
    if (const auto* line = std::get_if<LogLine>(&*message)) reports.push_back(line->text);
    answers += std::holds_alternative<Decoded>(*message) ? 1 : 0;
  }
  EXPECT_THAT(lines.all, Contains(HasSubstr("steps are prepared at first use")));
  EXPECT_THAT(reports, Contains(HasSubstr("stepping 128 sequences at a time instead of 256")));
}

TEST_F(RecordedWorker, LostDeviceIsReportedAndEndsTheWorker) {
  WorkerOnDevice worker(std::size_t{40} << 30);
  recording_cuda::fail_launches("graph", 719);
  worker.open(1);  // encoded at once: no request is needed, and none could be sent once the worker has ended
  EXPECT_THAT(worker.control->expect<Failed>().what, HasSubstr("unspecified launch failure"));
  EXPECT_EQ(worker.wait(), 1);
}

}  // namespace
}  // namespace tutti
