#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "decode/batcher.h"
#include "decode/fixed_shapes.h"
#include "worker/commands.h"
#include "worker/formula_requests.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

TEST(Worker, SendsHelloFirstWithItsBuildId) {
  WorkerHere worker(scripted({}));
  const auto hello = worker.control->expect<Hello>();
  EXPECT_EQ(hello.protocol, kProtocolVersion);
  EXPECT_EQ(hello.build_id, "test build");
}

TEST(Worker, OpensAWindowAndDecodesItAgainAtAnotherTemperature) {
  WorkerHere worker(NetworkScript{});
  worker.control->open(5, 2, 10, mel_of(3));
  EXPECT_EQ(worker.control->expect<Opened>().window, 5U);
  for (const std::uint64_t request : {10U, 11U}) {
    worker.control->send(request_of(5, request));
    expect_answer(worker.control->expect<Decoded>(), 3, request_of(5, request));
  }
}

TEST(Worker, RequestsMaySetOutBeforeTheirWindowIsOpen) {
  WorkerHere worker(NetworkScript{});
  worker.control->open(1, 2, 10, mel_of(4));
  worker.control->send(DetectLanguage{.window = 1});
  worker.control->send(DetectLanguage{.window = 1});
  worker.control->send(request_of(1, 20));
  worker.control->expect<Opened>();
  worker.control->expect<Language>();
  worker.control->expect<Language>();
  expect_answer(worker.control->expect<Decoded>(), 4, request_of(1, 20));
}

TEST(Worker, AlignsATextAlsoIfRequestedBeforeTheWindowOpens) {
  WorkerHere worker(NetworkScript{});
  worker.control->open(1, 2, 10, mel_of(4));
  const AlignWindow request{.window = 1, .request = 30, .sot_sequence = {299}, .text_tokens = {4, 2, 8}, .frames = 10};
  worker.control->send(request);
  worker.control->expect<Opened>();
  for (int time = 0; time < 2; ++time) {
    const auto aligned = worker.control->expect<Aligned>();
    EXPECT_EQ(aligned.window, 1U);
    EXPECT_EQ(aligned.request, 30U);
    EXPECT_EQ(aligned.starts, (std::vector<std::int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(aligned.probabilities, (std::vector<float>{0.25F, 0.5F, 0.125F}));
    if (time == 0) worker.control->send(request);
  }
}

TEST(Worker, InvalidAlignmentIsRefusedByFieldName) {
  WorkerHere worker(NetworkScript{});
  AlignWindow request{.window = 1, .request = 31, .sot_sequence = {299}, .text_tokens = {300}, .frames = 10};
  worker.control->send(request);
  EXPECT_NE(worker.control->expect<Failed>().what.find("window 1 is not open"), std::string::npos);
  worker.control->open(1, 2, 10, mel_of(4));
  worker.control->expect<Opened>();
  worker.control->send(request);
  const auto failed = worker.control->expect<Failed>();
  EXPECT_EQ(failed.request, 31U);
  EXPECT_EQ(failed.fault, Fault::usage);
  EXPECT_NE(failed.what.find("token 300"), std::string::npos);
}

TEST(Worker, StepsOfAllBeamsArePreparedBeforeTheModelIsReady) {
  std::vector<std::int32_t> prepared;
  WorkerHere worker({.most_slots = 40, .prepare = [&](std::int32_t slots) { prepared.push_back(slots); }}, false, 5);
  EXPECT_EQ(prepared, (std::vector<std::int32_t>{40, 1})) << "eight windows of five beams, and language detection";
  worker.control->open(1, 2, 10, mel_of(3));
  worker.control->expect<Opened>();
  worker.control->send(request_of(1, 2));
  expect_answer(worker.control->expect<Decoded>(), 3, request_of(1, 2));
}

TEST(Worker, WindowsThatWaitAreEncodedTogether) {
  std::promise<void> all_are_open;
  std::vector<std::int64_t> batches;
  std::vector<float> names;
  WorkerHere worker({.encode = [&](const at::Tensor& mel) { names.push_back(mel[0][0].item<float>()); },
                     .encoded_together = 4,
                     .encode_batch =
                         [&, gate = all_are_open.get_future().share()](std::int64_t windows) {
                           batches.push_back(windows);
                           gate.wait();
                         }});
  for (int name = 1; name <= 7; ++name) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
    worker.control->send(request_of(static_cast<WindowId>(name), 4));
    if (name > 1) continue;
    worker.control->send(Ping{.sequence = 1});
    worker.control->expect<Pong>();
  }
  worker.control->send(Ping{.sequence = 2});
  worker.control->expect<Pong>();
  all_are_open.set_value();
  for (int answers = 0; answers < 14; ++answers) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    if (const auto* decoded = std::get_if<Decoded>(&*message)) {
      expect_answer(*decoded, static_cast<int>(decoded->window), request_of(decoded->window, 4));
    } else {
      ASSERT_TRUE(std::holds_alternative<Opened>(*message));
    }
  }
  EXPECT_EQ(worker.hang_up(), 0);
  EXPECT_EQ(names, (std::vector<float>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_LE(batches.size(), 4U) << "the first alone or with what came with it, the others four at a time";
  EXPECT_LE(std::ranges::max(batches), 4);
}

/// A greedy request of at least twelve steps.
DecodeWindow long_request_of(WindowId window) {
  for (std::uint64_t request = 2;; request += 2) {
    if (expected(static_cast<int>(window), request_of(window, request)).steps >= 12) return request_of(window, request);
  }
}

/// A worker that encodes beside decoder steps. Its first window waits in its second step until `go_on`.
class BesideSteps {
 public:
  explicit BesideSteps(NetworkScript script = {}) {
    script.step = [this] {
      if (++steps_ != 2) return;
      waits_.set_value();
      gate_.wait();
    };
    script.encode_batch = [this](std::int64_t) { begun_ = steps_.load(); };
    if (!script.encoded_beside) script.encoded_beside = [this] { return (meanwhile = steps_ - begun_) >= 3; };
    worker.emplace(std::move(script));
    worker->control->open(1, 2, 10, mel_of(1));
    worker->control->send(first);
    worker->control->expect<Opened>();
    waits_.get_future().wait();  // what is sent from now on is received behind that step
  }

  /// Once the worker has received all that was sent.
  void go_on() {
    worker->control->send(Ping{.sequence = 1});
    worker->control->expect<Pong>();
    go_on_.set_value();
  }

  const DecodeWindow first = long_request_of(1);
  std::atomic<int> meanwhile = 0;  // steps since an encoding began
  std::optional<WorkerHere> worker{};

 private:
  std::atomic<int> steps_ = 0, begun_ = 0;
  std::promise<void> waits_{}, go_on_{};
  std::shared_future<void> gate_ = go_on_.get_future().share();
};

TEST(Worker, StepsGoOnWhileAWindowIsEncodedBesideThem) {
  BesideSteps beside;
  auto& control = *beside.worker->control;
  control.open(2, 2, 10, mel_of(2));
  control.send(request_of(2, 4));
  beside.go_on();
  EXPECT_EQ(control.expect<Opened>().window, 2U);
  EXPECT_EQ(beside.meanwhile, 3) << "steps of the first window";
  for (int answers = 0; answers < 2; ++answers) {
    const auto decoded = control.expect<Decoded>();
    expect_answer(decoded, static_cast<int>(decoded.window), decoded.window == 1 ? beside.first : request_of(2, 4));
  }
  EXPECT_EQ(beside.worker->hang_up(), 0);
}

TEST(Worker, AWindowReleasedWhileItIsEncodedIsNotAnswered) {
  std::promise<void> encoding, released;
  int looks = 0;
  BesideSteps beside({.encoded_beside = [&, gate = released.get_future().share()] {
    if (++looks > 1) return true;
    encoding.set_value();
    gate.wait();
    return false;  // a step, and then the messages
  }});
  auto& control = *beside.worker->control;
  control.open(2, 2, 10, mel_of(2));
  beside.go_on();
  encoding.get_future().wait();
  control.send(ReleaseWindow{.window = 2});
  control.send(Ping{.sequence = 2});
  control.expect<Pong>();
  released.set_value();
  expect_answer(control.expect<Decoded>(), 1, beside.first);
  control.open(2, 2, 10, mel_of(3));  // the name is free again
  control.send(request_of(2, 4));
  control.expect<Opened>();
  expect_answer(control.expect<Decoded>(), 3, request_of(2, 4));
  EXPECT_EQ(beside.worker->hang_up(), 0);
}

TEST(Worker, ADeviceThatFailsBesideStepsIsAnswered) {
  BesideSteps beside({.encoded_beside = []() -> bool { throw std::runtime_error("no answer of the event"); },
                      .take_encoded = [] { throw std::runtime_error("the device fell off the bus"); }});
  auto& control = *beside.worker->control;
  control.open(2, 2, 10, mel_of(2));
  beside.go_on();
  EXPECT_THAT(control.expect<Failed>().what, testing::HasSubstr("the device fell off the bus"));
  expect_answer(control.expect<Decoded>(), 1, beside.first);
  EXPECT_EQ(beside.worker->hang_up(), 0);
}

TEST(Worker, AnEncodingThatFailsBesideStepsFailsItsWindowAlone) {
  BesideSteps beside({.take_encoded = [] { throw std::runtime_error("no convolution today"); }});
  auto& control = *beside.worker->control;
  control.open(2, 2, 10, mel_of(2));
  beside.go_on();
  const auto failed = control.expect<Failed>();
  EXPECT_EQ(failed.window, 2U);
  EXPECT_THAT(failed.what, testing::HasSubstr("no convolution today"));
  expect_answer(control.expect<Decoded>(), 1, beside.first);
  EXPECT_EQ(beside.worker->hang_up(), 0);
}

TEST(Worker, AShortWindowIsPaddedWithZerosToTheModelsLength) {
  std::promise<at::Tensor> seen;
  WorkerHere worker({.encode = [&](const at::Tensor& mel) { seen.set_value(mel.clone()); }});
  worker.control->open(1, 2, 3, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto mel = seen.get_future().get();
  const auto wanted =
      at::tensor({1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0}, at::kFloat).view({2, 10});
  EXPECT_TRUE(at::equal(mel, wanted)) << mel;
}

TEST(Worker, WindowsOfOneWidthAreEncodedTogether) {
  std::vector<std::vector<std::int64_t>> encoded;  // the worker's until it has ended
  std::promise<void> all_are_here;
  const auto wait = all_are_here.get_future().share();
  WorkerHere worker({.encode = [&](const at::Tensor& mel) { encoded.back().push_back(mel.size(1)); },
                     .encoded_together = 4,
                     .encode_batch =
                         [&, wait](std::int64_t) {
                           encoded.emplace_back();
                           if (encoded.size() == 1) wait.wait();
                         },
                     .takes_short_windows = true});
  worker.control->open(1, 2, 10, mel_of(1));
  for (WindowId window = 2; window <= 4; ++window)
    worker.control->open(window, 2, 3, std::vector<float>{static_cast<float>(window), 2, 3, 4, 5, 6},
                         window == 4 ? 5 : 2);
  worker.control->send(Ping{.sequence = 1});
  worker.control->expect<Pong>();
  all_are_here.set_value();
  for (int i = 0; i < 4; ++i) worker.control->expect<Opened>();
  worker.control->send(AlignWindow{.window = 2, .sot_sequence = {299}, .text_tokens = {7}, .frames = 6});
  EXPECT_THAT(worker.control->expect<Failed>().what, testing::HasSubstr("frames must be 2 to 4"));
  EXPECT_EQ(worker.hang_up(), 0);
  EXPECT_EQ(encoded, (std::vector<std::vector<std::int64_t>>{{10}, {4, 4}, {10}}));
}

TEST(Worker, ManyWindowsAtOnceGiveWhatEachGivesAlone) {
  WorkerHere worker(NetworkScript{});
  for (int name = 1; name <= 12; ++name) {
    const auto window = static_cast<WindowId>(name);
    worker.control->open(window, 2, 10, mel_of(name));
    worker.control->send(request_of(window, window));
  }
  for (int answers = 0; answers < 12;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    const auto* decoded = std::get_if<Decoded>(&*message);
    if (!decoded) continue;
    expect_answer(*decoded, static_cast<int>(decoded->window), request_of(decoded->window, decoded->request));
    ++answers;
  }
}

TEST(Worker, DeterministicItStepsInFixedShapesAndAnswersTheSame) {
  std::vector<std::vector<std::size_t>> shapes;  // the worker's until it has ended
  WorkerHere worker({.most_slots = 8 + FixedShapeStepper::kRows,
                     .on_step =
                         [&](std::span<const SequenceStep> sequences) {
                           shapes.emplace_back();
                           for (const auto& sequence : sequences) shapes.back().push_back(sequence.tokens.size());
                         }},
                    /*deterministic=*/true);
  for (int name = 1; name <= 3; ++name) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
    worker.control->send(request_of(static_cast<WindowId>(name), 2));
  }
  for (int answers = 0; answers < 3;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    const auto* decoded = std::get_if<Decoded>(&*message);
    if (!decoded) continue;
    expect_answer(*decoded, static_cast<int>(decoded->window), request_of(decoded->window, 2));
    ++answers;
  }
  worker.hang_up();
  const std::vector<std::size_t> prompt{3}, step(FixedShapeStepper::kRows, 1);
  EXPECT_EQ(std::ranges::count(shapes, prompt), 3);
  EXPECT_EQ(std::ranges::count(shapes, step), std::ssize(shapes) - 3);
  EXPECT_GT(std::ssize(shapes), 3);
}

TEST(Worker, ReportsTheProbabilityOfEveryLanguage) {
  WorkerHere worker(NetworkScript{});
  worker.control->open(1, 2, 10, mel_of(4));
  worker.control->expect<Opened>();
  worker.control->send(DetectLanguage{.window = 1});
  const auto language = worker.control->expect<Language>();
  EXPECT_EQ(language.tokens, (std::vector<std::int32_t>{290, 291, 292}));

  std::vector<float> row(400);
  // The seed is FormulaStepper's for window 4 that holds the token 299 alone.
  formula_logits(row, 4 * 1000003 + 299, 0, 299, kScriptTokens);
  const auto chances = at::tensor({row[290], row[291], row[292]}).softmax(0);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(language.probabilities[static_cast<std::size_t>(i)], chances[i].item<float>());
  }
}

TEST(Worker, AWindowThatDoesNotFitTheModelIsRefusedAndTheNextOneServed) {
  WorkerHere worker(NetworkScript{});
  auto& control = *worker.control;
  const auto complaint = [&] { return control.expect<Failed>().what; };
  control.open(1, 3, 10, std::vector<float>(30));
  EXPECT_NE(complaint().find("takes 2 bins"), std::string::npos);
  control.open(2, 2, 11, std::vector<float>(22));
  EXPECT_NE(complaint().find("2 x 11"), std::string::npos);
  control.open(3, 2, -1, std::vector<float>(22));
  EXPECT_NE(complaint().find("2 x -1"), std::string::npos);
  control.send(OpenWindow{.window = 4, .n_mels = 2, .frames = 10});
  EXPECT_NE(complaint().find("without its memory"), std::string::npos);
  control.open(5, 2, 10, std::vector<float>(19));
  complaint();
  control.open(6, 2, 10, mel_of(1));
  EXPECT_EQ(control.expect<Opened>().window, 6U);
  control.open(6, 2, 10, mel_of(1));
  EXPECT_NE(complaint().find("open already"), std::string::npos);
}

TEST(Worker, InvalidRequestsAreRefusedByFieldName) {
  WorkerHere worker(NetworkScript{});
  auto& control = *worker.control;
  control.send(request_of(9, 77));
  const auto unknown = control.expect<Failed>();
  EXPECT_EQ(unknown.window, 9U);
  EXPECT_EQ(unknown.request, 77U);
  EXPECT_EQ(unknown.fault, Fault::usage);
  control.send(DetectLanguage{.window = 9});
  EXPECT_NE(control.expect<Failed>().what.find("window 9 is not open"), std::string::npos);
  control.open(1, 2, 10, mel_of(1));
  control.expect<Opened>();
  auto request = request_of(1, 78);
  request.prompt = {5000};
  request.sot_index = 0;
  control.send(request);
  EXPECT_NE(control.expect<Failed>().what.find("token 5000"), std::string::npos);
  control.send(LoadModel{});
  EXPECT_NE(control.expect<Failed>().what.find("loaded already"), std::string::npos);
}

TEST(Worker, WithoutAModelReportsWhyLoadingFailed) {
  WorkerHere worker([](const LoadModel& request) -> Result<LoadedModel> {
    return fail(Fault::missing, request.model_path + ": no such folder");
  });
  worker.control->expect<Hello>();
  worker.control->open(1, 2, 10, mel_of(1));
  EXPECT_EQ(worker.control->expect<Failed>().what, "no model is loaded");
  worker.control->send(LoadModel{.model_path = "/nowhere"});
  const auto failed = worker.control->expect<Failed>();
  EXPECT_EQ(failed.window, 0U);
  EXPECT_EQ(failed.fault, Fault::missing);
  EXPECT_EQ(failed.what, "/nowhere: no such folder");
}

TEST(Worker, APingIsAnsweredWhileTheEncoderIsBusy) {
  std::promise<void> go_on;
  WorkerHere worker({.encode = [&, gate = go_on.get_future().share()](const at::Tensor&) { gate.wait(); }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->send(Ping{.sequence = 42});
  EXPECT_EQ(worker.control->expect<Pong>().sequence, 42U);
  go_on.set_value();
  worker.control->expect<Opened>();
}

TEST(Worker, AReleasedWindowIsGoneAndItsRequestsWithIt) {
  std::promise<void> go_on;
  WorkerHere worker({.encode = [&, gate = go_on.get_future().share()](const at::Tensor&) { gate.wait(); }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->open(2, 2, 10, mel_of(2));
  worker.control->send(request_of(2, 5));
  worker.control->send(ReleaseWindow{.window = 2});
  worker.control->send(request_of(1, 6));
  worker.control->send(Ping{.sequence = 1});
  worker.control->expect<Pong>();  // all messages have been received
  go_on.set_value();
  EXPECT_EQ(worker.control->expect<Opened>().window, 1U);
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 6));
  worker.control->send(request_of(2, 7));
  EXPECT_EQ(worker.control->expect<Failed>().request, 7U);
}

TEST(Worker, BeamAndGreedyRequestsShareABatchWithoutInfluence) {
  WorkerHere worker(NetworkScript{.most_slots = 40});
  const auto request_for = [](int name) {
    auto request = request_of(static_cast<WindowId>(name), static_cast<WindowId>(name));
    request.decoding.beam_size = name % 3 == 0 ? 0 : 5;
    request.decoding.patience = name % 3;
    request.decoding.length_penalty = name % 4 == 0 ? 0.6 : -1.0;
    return request;
  };
  for (int name = 1; name <= 9; ++name) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
    worker.control->send(request_for(name));
  }
  for (int answers = 0; answers < 9;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    EXPECT_FALSE(std::holds_alternative<Failed>(*message));
    if (const auto* decoded = std::get_if<Decoded>(&*message)) {
      expect_answer(*decoded, static_cast<int>(decoded->window), request_for(static_cast<int>(decoded->window)));
      ++answers;
    }
  }
}

TEST(Worker, AnExceptionOutOfTorchBecomesAReadableFailure) {
  int encodings = 0;
  WorkerHere worker({.encode = [&](const at::Tensor&) {
    TORCH_CHECK(++encodings > 1, "mat1 and mat2 shapes cannot be multiplied");
  }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->send(request_of(1, 8));
  EXPECT_EQ(worker.control->expect<Failed>().what, "encoding a window: mat1 and mat2 shapes cannot be multiplied");
  EXPECT_EQ(worker.control->expect<Failed>().request, 8U);
  worker.control->open(2, 2, 10, mel_of(1));
  worker.control->expect<Opened>();
}

TEST(Worker, ALostDeviceIsReportedAndEndsTheWorker) {
  WorkerHere worker({.step = [] { throw c10::AcceleratorError({}, 700, "CUDA error: an illegal memory access"); }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->expect<Opened>();
  worker.control->send(request_of(1, 8));
  const auto lost = worker.control->expect<Failed>();
  EXPECT_EQ(lost.window, 0U);
  EXPECT_EQ(lost.fault, Fault::device);
  EXPECT_EQ(worker.wait(), 1);
}

TEST(Worker, EndsWhenTheControlSideHangsUpEvenInTheMiddleOfWork) {
  WorkerHere worker(NetworkScript{});
  worker.control->open(1, 2, 10, mel_of(1));
  for (std::uint64_t request = 0; request < 50; ++request) worker.control->send(request_of(1, request));
  EXPECT_EQ(worker.hang_up(), 0);
}

TEST(Worker, ClosesTheConnectionOnAnInvalidMessage) {
  WorkerHere worker(NetworkScript{});
  ASSERT_TRUE(worker.control->connection().send("nonsense").has_value());
  EXPECT_EQ(worker.control->next(), std::nullopt);
  EXPECT_EQ(worker.wait(), 0);
}

}  // namespace
}  // namespace tutti
