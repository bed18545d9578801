#include "runner/kept_windows.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "transcribe/scripted_engine.h"

using namespace tutti;

namespace {

const std::vector<float> kMel(80 * 10, 0.5F), kOther(80 * 10, 0.25F);

DecodeWindow request(WindowId window, std::uint64_t number, float temperature = 0) {
  return {.window = window, .request = number, .prompt = {1, 2}, .temperature = temperature};
}

/// What an attempt on one window leaves that is decoded and aligned.
WindowReplies of_first_attempt(const std::string& model) {
  ScriptedEngine engine;
  WindowReplies kept;
  KeptWindows windows(engine, model, {}, [&](const WindowReplies& fresh) { kept = fresh; });
  EXPECT_TRUE(windows.open({.window = 3, .n_mels = 80, .frames = 10}, kMel));
  EXPECT_TRUE(windows.decode(request(3, 1)));
  EXPECT_TRUE(windows.align({.window = 3, .request = 2, .sot_sequence = {1}, .text_tokens = {7}, .frames = 10}));
  windows.release(3);
  windows.flush();
  EXPECT_EQ(engine.requests.size(), 1U);
  EXPECT_TRUE(engine.open_now.empty());
  return kept;
}

}  // namespace

TEST(KeptWindows, SecondAttemptComputesNothingAgain) {
  const auto kept = read_replies(replies_json(of_first_attempt("m")));
  ASSERT_TRUE(kept) << kept.error().text();
  ScriptedEngine engine;
  KeptWindows windows(engine, "m", *kept, [](const WindowReplies&) { FAIL() << "nothing is new"; });
  ASSERT_TRUE(windows.open({.window = 8, .n_mels = 80, .frames = 10}, kMel));
  const auto decoded = windows.decode(request(8, 5));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, (Decoded{.window = 8, .request = 5, .tokens = {7}, .avg_logprob = -0.5, .steps = 2}));
  const auto aligned =
      windows.align({.window = 8, .request = 6, .sot_sequence = {1}, .text_tokens = {7}, .frames = 10});
  ASSERT_TRUE(aligned);
  EXPECT_EQ(std::pair(aligned->window, aligned->request), std::pair(WindowId{8}, std::uint64_t{6}));
  windows.release(8);
  windows.flush();
  EXPECT_EQ(windows.reused(), 2U);
  EXPECT_TRUE(engine.opened.empty());
  EXPECT_TRUE(engine.requests.empty());
  EXPECT_TRUE(engine.alignments.empty());
}

TEST(KeptWindows, OtherWindowRequestOrModelIsComputed) {
  const WindowReplies known = of_first_attempt("m");
  for (const auto& [model, mel, temperature] :
       {std::tuple("m", &kOther, 0.0F), std::tuple("m", &kMel, 0.5F), std::tuple("another", &kMel, 0.0F)}) {
    ScriptedEngine engine;
    WindowReplies fresh;
    KeptWindows windows(engine, model, known, [&](const WindowReplies& replies) { fresh = replies; });
    ASSERT_TRUE(windows.open({.window = 1, .n_mels = 80, .frames = 10}, *mel));
    ASSERT_TRUE(windows.decode(request(1, 1, temperature)));
    windows.release(1);
    windows.flush();
    EXPECT_EQ(engine.opened.size(), 1U);
    EXPECT_EQ(engine.requests.size(), 1U);
    EXPECT_EQ(fresh.size(), 1U);
    EXPECT_EQ(windows.reused(), 0U);
  }
}

TEST(KeptWindows, FailedWindowIsNotKept) {
  ScriptedEngine engine;
  engine.answer = [](const DecodeWindow&) -> Result<Decoded> { return fail(Fault::device, "the worker is gone"); };
  KeptWindows windows(engine, "m", {}, [](const WindowReplies&) { FAIL() << "nothing was done"; });
  ASSERT_TRUE(windows.open({.window = 1, .n_mels = 80, .frames = 10}, kMel));
  EXPECT_FALSE(windows.decode(request(1, 1)));
  windows.flush();
}

TEST(KeptWindows, DamagedObjectIsNamed) {
  for (const char* text :
       {"", "{}", R"({"schema_version":2,"windows":{}})", R"({"schema_version":1,"windows":{"k":"0g"}})",
        R"({"schema_version":1,"windows":{"k":"00"}})"})
    EXPECT_FALSE(read_replies(text)) << text;
}
