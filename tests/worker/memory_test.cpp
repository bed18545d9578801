// What a worker does where memory does not last.

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <set>

#include "model/decoder_step/kernels.h"
#include "worker/formula_requests.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

TEST(Worker, OutOfMemoryHalvesSlotsLogsItAndLosesNoWindow) {
  WorkerHere worker({.most_slots = 2});
  for (int name = 1; name <= 5; ++name) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
    worker.control->send(request_of(static_cast<WindowId>(name), 1));
  }
  std::vector<std::string> lines;
  for (int answers = 0; answers < 5;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    EXPECT_FALSE(std::holds_alternative<Failed>(*message));
    if (const auto* line = std::get_if<LogLine>(&*message)) lines.push_back(line->text);
    if (const auto* decoded = std::get_if<Decoded>(&*message)) {
      expect_answer(*decoded, static_cast<int>(decoded->window), request_of(decoded->window, 1));
      ++answers;
    }
  }
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "decoding: out of memory: stepping 4 sequences at a time instead of 8");
  EXPECT_EQ(lines[1], "decoding: out of memory: stepping 2 sequences at a time instead of 4");
}

TEST(Worker, OutOfMemoryWhileEncodingFreesSlotsAndRetries) {
  int encodings = 0;
  WorkerHere worker({.encode = [&](const at::Tensor&) {
    if (++encodings <= 2) throw c10::OutOfMemoryError({}, "CUDA out of memory. Tried to allocate 2 GiB\nbacktrace");
  }});
  worker.control->open(1, 2, 10, mel_of(1));
  EXPECT_EQ(
      worker.control->expect<LogLine>().text,
      "encoding a window: CUDA out of memory. Tried to allocate 2 GiB: stepping 4 sequences at a time instead of 8");
  worker.control->expect<LogLine>();
  worker.control->expect<Opened>();
}

/// Throws at these calls, the first being 1.
std::function<void(const at::Tensor&)> no_memory_from(int first, int last) {
  return [first, last, call = 0](const at::Tensor&) mutable {
    if (++call >= first && call <= last) throw std::bad_alloc();
  };
}

TEST(Worker, IdleWindowIsEvictedForTheNextAndReencodedOnRequest) {
  WorkerHere worker({.encode = no_memory_from(2, 5)});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->expect<Opened>();
  worker.control->open(2, 2, 10, mel_of(2));
  for (int halvings = 0; halvings < 3; ++halvings) worker.control->expect<LogLine>();
  EXPECT_EQ(worker.control->expect<Opened>().window, 2U);
  worker.control->send(DetectLanguage{.window = 1});
  worker.control->expect<Language>();
  worker.control->send(request_of(1, 2));
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 2));
  worker.control->send(request_of(2, 4));
  expect_answer(worker.control->expect<Decoded>(), 2, request_of(2, 4));
}

TEST(Worker, WindowsThatWaitAreClosedWhereAStepHasNoMemoryBesideThem) {
  const auto alive = std::make_shared<std::atomic<int>>(0);
  const auto holds = [alive](int most) {
    if (*alive > most) throw std::bad_alloc();
  };
  WorkerHere worker(
      {.encode = [holds](const at::Tensor&) { holds(5); }, .step = [holds] { holds(2); }, .alive = alive});
  for (int name = 1; name <= 8; ++name) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
    worker.control->send(request_of(static_cast<WindowId>(name), 3));
  }
  std::set<WindowId> answered, opened;
  while (answered.size() < 8) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    if (const auto* failed = std::get_if<Failed>(&*message)) FAIL() << failed->what;
    if (const auto* one = std::get_if<Opened>(&*message)) {
      EXPECT_TRUE(opened.insert(one->window).second) << "answered twice: " << one->window;
    }
    if (const auto* decoded = std::get_if<Decoded>(&*message)) {
      expect_answer(*decoded, static_cast<int>(decoded->window), request_of(decoded->window, 3));
      answered.insert(decoded->window);
      worker.control->send(ReleaseWindow{.window = decoded->window});
    }
  }
  EXPECT_EQ(worker.hang_up(), 0);
}

TEST(Worker, AWindowThatDoesNotFitBesideOneBeingDecodedWaitsForItsEnd) {
  std::promise<void> go_on;
  WorkerHere worker({.encode = no_memory_from(2, 5), .step = [gate = go_on.get_future().share()] { gate.wait(); }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->send(request_of(1, 2));
  worker.control->expect<Opened>();
  worker.control->open(2, 2, 10, mel_of(2));
  worker.control->send(Ping{.sequence = 1});
  worker.control->expect<Pong>();
  go_on.set_value();
  for (int halvings = 0; halvings < 3; ++halvings) worker.control->expect<LogLine>();
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 2));
  EXPECT_EQ(worker.control->expect<Opened>().window, 2U);
}

TEST(Worker, AWindowThatDoesNotFitAloneFails) {
  WorkerHere worker({.encode = no_memory_from(1, 100)});
  worker.control->open(1, 2, 10, mel_of(1));
  for (int halvings = 0; halvings < 3; ++halvings) worker.control->expect<LogLine>();
  EXPECT_EQ(worker.control->expect<Failed>().fault, Fault::exhausted);
}

TEST(Worker, AKernelThatFindsNoMemoryIsMetWithFewerSlots) {
  int steps = 0;
  WorkerHere worker({.step = [&] {
    if (++steps == 1) throw KernelError(2, "out of memory");
  }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->expect<Opened>();
  worker.control->send(request_of(1, 2));
  EXPECT_EQ(worker.control->expect<LogLine>().text,
            "decoding: CUDA error: out of memory: stepping 4 sequences at a time instead of 8");
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 2));
}

TEST(Worker, RequestThatDoesNotFitAloneFailsAndTheNextRuns) {
  int steps = 0;
  WorkerHere worker({.step = [&] {
    if (++steps <= 4) throw std::bad_alloc();
  }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->expect<Opened>();
  worker.control->send(request_of(1, 2));
  for (int halvings = 0; halvings < 3; ++halvings) worker.control->expect<LogLine>();
  const auto failed = worker.control->expect<Failed>();
  EXPECT_EQ(failed.fault, Fault::exhausted);
  EXPECT_EQ(failed.request, 2U);
  worker.control->send(request_of(1, 4));
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 4));
}

/// A step finds no memory so many times, counted over all steppers; encodings are counted.
NetworkScript no_memory_for_steps(int times, std::atomic<int>& encodings) {
  return {.encode = [&encodings](const at::Tensor&) { ++encodings; },
          .step =
              [times, steps = std::make_shared<int>(0)] {
                if (++*steps <= times) throw std::bad_alloc();
              }};
}

void open_two(WorkerHere& worker) {
  for (const int name : {1, 2}) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
    worker.control->expect<Opened>();
  }
}

TEST(Worker, IdleWindowIsEvictedForDecodingAndReencodedOnRequest) {
  std::atomic<int> encodings = 0;
  WorkerHere worker(no_memory_for_steps(4, encodings));
  open_two(worker);
  worker.control->send(request_of(1, 2));
  for (int halvings = 0; halvings < 3; ++halvings) worker.control->expect<LogLine>();
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 2));
  EXPECT_EQ(encodings.load(), 2);
  worker.control->send(request_of(2, 4));
  expect_answer(worker.control->expect<Decoded>(), 2, request_of(2, 4));
  EXPECT_EQ(encodings.load(), 3);
}

TEST(Worker, WindowInLanguageDetectionIsNotEvicted) {
  std::atomic<int> encodings = 0;
  WorkerHere worker(no_memory_for_steps(4, encodings));
  open_two(worker);
  worker.control->send(DetectLanguage{.window = 1});
  for (int halvings = 0; halvings < 3; ++halvings) worker.control->expect<LogLine>();
  EXPECT_EQ(worker.control->expect<Language>().window, 1U);
  worker.control->send(request_of(1, 2));
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 2));
  EXPECT_EQ(encodings.load(), 2) << "the window in use was not evicted";
}

TEST(Worker, OutOfMemoryInABatchOfEncodingsCostsNoSlot) {
  std::promise<void> all_are_open;
  std::vector<std::int64_t> batches;
  WorkerHere worker(
      {.encoded_together = 4, .encode_batch = [&, gate = all_are_open.get_future().share()](std::int64_t windows) {
         gate.wait();
         batches.push_back(windows);
         if (windows > 1) throw std::bad_alloc();
       }});
  for (int name = 1; name <= 4; ++name) worker.control->open(static_cast<WindowId>(name), 2, 10, mel_of(name));
  worker.control->send(Ping{.sequence = 1});
  worker.control->expect<Pong>();
  all_are_open.set_value();
  std::vector<std::string> lines;
  for (int opened = 0; opened < 4;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    if (const auto* line = std::get_if<LogLine>(&*message)) lines.push_back(line->text);
    if (std::holds_alternative<Opened>(*message)) ++opened;
  }
  EXPECT_EQ(worker.hang_up(), 0);
  EXPECT_EQ(lines, (std::vector<std::string>{"encoding a window: out of memory: windows are encoded one at a time"}));
  EXPECT_EQ(std::ranges::count(batches, 1), 4);
}

TEST(Worker, WithoutMemoryToPrepareStepsTheyAreMadeAtFirstUse) {
  WorkerHere worker({.prepare = [](std::int32_t) { throw std::bad_alloc(); }});
  worker.control->open(1, 2, 10, mel_of(1));
  worker.control->expect<Opened>();
  worker.control->send(request_of(1, 2));
  expect_answer(worker.control->expect<Decoded>(), 1, request_of(1, 2));
}

}  // namespace
}  // namespace tutti
