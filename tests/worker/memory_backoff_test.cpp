#include "worker/memory_backoff.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "link/messages.h"
#include "model/decoder_step/kernels.h"

namespace tutti {
namespace {

/// What happened, in order: steps by their names, "release", lines and failures by their texts.
struct Diary {
  std::vector<std::string> entries{};

  /// A step that can give up something so many times.
  MemoryBackoff::Step step(const std::string& name, int times, const std::string& words) {
    return [this, name, words, left = times]() mutable -> std::optional<std::string> {
      entries.push_back(name);
      return left-- > 0 ? std::optional(words) : std::nullopt;
    };
  }
  MemoryBackoff backoff(std::vector<MemoryBackoff::Step> steps) {
    return {std::move(steps), [this] { entries.emplace_back("release"); },
            [this](const ToControl& answer) {
              if (const auto* line = std::get_if<LogLine>(&answer)) entries.push_back(line->text);
              if (const auto* failed = std::get_if<Failed>(&answer)) entries.push_back(failed->what);
            }};
  }
};

/// Finds no memory so many times, then returns how often it was called.
auto work_without_memory(int times) {
  return [times, calls = 0]() mutable {
    if (++calls <= times) throw std::bad_alloc();
    return calls;
  };
}

TEST(MemoryBackoff, WorkThatSucceedsGivesUpNothing) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("batch", 9, "one at a time")});
  EXPECT_EQ(backoff.run("decoding", [] { return 7; }).value(), 7);
  EXPECT_TRUE(diary.entries.empty());
}

TEST(MemoryBackoff, EveryTryIsPrecededByTheCheapestStepThatIsLeft) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("batch", 1, "one at a time"), diary.step("slots", 2, "fewer slots")});
  EXPECT_EQ(backoff.run("decoding", work_without_memory(3)).value(), 4);
  const std::string slots = "decoding: out of memory: fewer slots";
  EXPECT_EQ(diary.entries,
            (std::vector<std::string>{"batch", "release", "decoding: out of memory: one at a time",  // first try
                                      "batch", "slots", "release", slots,                            // second
                                      "batch", "slots", "release", slots}));
}

TEST(MemoryBackoff, StepWithoutWordsIsNotLogged) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("idle", 1, "")});
  EXPECT_EQ(backoff.run("decoding", work_without_memory(1)).value(), 2);
  EXPECT_EQ(diary.entries, (std::vector<std::string>{"idle", "release"}));
}

TEST(MemoryBackoff, WithNothingLeftToGiveUpTheWorkIsExhausted) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("slots", 1, "")});
  const auto done = backoff.run("aligning words", work_without_memory(2));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, Fault::exhausted);
  EXPECT_EQ(done.error().what, "aligning words: out of memory");
  EXPECT_EQ(diary.entries, (std::vector<std::string>{"slots", "release", "slots"}));
  EXPECT_FALSE(backoff.is_device_lost());
}

TEST(MemoryBackoff, WorkThatHoldsNothingItThrewMayTakeItAgain) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("slots", 1, "")});
  std::weak_ptr<int> held;
  int tries = 0;
  const auto done = backoff.run("decoding", [&] {
    EXPECT_TRUE(held.expired()) << "the last try's exception still holds its memory";
    struct Full : std::bad_alloc {
      std::shared_ptr<int> memory = std::make_shared<int>(1);
    } full;
    held = full.memory;
    if (++tries == 1) throw full;
    return tries;
  });
  EXPECT_EQ(done.value(), 2);
}

TEST(MemoryBackoff, FailureOfAnotherKindGivesUpNothing) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("slots", 9, "")});
  const auto done = backoff.run("decoding", []() -> int { throw std::runtime_error("no such shape"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, Fault::internal);
  EXPECT_TRUE(diary.entries.empty());
  EXPECT_FALSE(backoff.is_device_lost());
}

TEST(MemoryBackoff, LostDeviceIsAnsweredAndRemembered) {
  Diary diary;
  auto backoff = diary.backoff({diary.step("slots", 9, "")});
  const auto done = backoff.run("decoding", []() -> int { throw KernelError(700, "an illegal memory access"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, Fault::device);
  EXPECT_EQ(diary.entries, (std::vector<std::string>{done.error().text()}));
  EXPECT_TRUE(backoff.is_device_lost());
}

}  // namespace
}  // namespace tutti
