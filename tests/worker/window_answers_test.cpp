#include "worker/window_answers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "worker/formula_requests.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

/// Requests of windows whose encodings the test hands in.
class AnswersHere {
 public:
  explicit AnswersHere(const NetworkScript& script = {}, std::int32_t slots = 8)
      : model_(scripted(script)({.beams = 1}).value()) {
    model_.slots = slots;
    slots_.emplace(model_, backoff_, Clock::real());
    answers.emplace(model_, *slots_, backoff_, reply_, Clock::real());
  }

  /// A window that is not encoded yet.
  void open(WindowId id) { EXPECT_TRUE(answers->open({.window = id}, received())); }
  void encode(WindowId id) {
    EncodedWindows windows{.ids = {id}, .spent = Seconds(1)};
    windows.kvs->push_back(*formula_window(static_cast<std::size_t>(id)));
    answers->encoded(std::move(windows));
  }
  void step_until_idle() {
    while (!slots_->idle()) answers->step();
  }
  /// The names of the answers since the last call; "Failed REQUEST" of failures.
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& answer : std::exchange(replies, {})) {
      const auto* failed = std::get_if<Failed>(&answer);
      names.push_back(failed ? "Failed " + std::to_string(failed->request) : std::string(name_of(answer)));
    }
    return names;
  }

  std::vector<ToControl> replies{};
  int closings = 0;

 private:
  static Result<WindowMel> received() {
    const auto shared = SharedWindow::create(mel_of(1)).value();
    return MelRing(at::empty({1, 2, 10})).receive({.n_mels = 2, .frames = 10}, OwnedFd(::dup(shared.fd())));
  }

  LoadedModel model_;
  Reply reply_ = [this](const ToControl& answer) { replies.push_back(answer); };
  MemoryBackoff backoff_{{[this] { return slots_->halve(); },
                          [this] {
                            const auto closed = answers->close_idle();
                            closings += closed ? 1 : 0;
                            return closed;
                          }},
                         [] {},
                         reply_};
  std::optional<DecoderSlots> slots_{};

 public:
  std::optional<WindowAnswers> answers{};
};

using Names = std::vector<std::string>;

TEST(WindowAnswers, RequestsWaitUntilTheirWindowIsEncoded) {
  AnswersHere here;
  here.open(3);
  EXPECT_TRUE(here.answers->request(AlignWindow{.window = 3, .request = 5, .sot_sequence = {299}, .frames = 10}));
  EXPECT_TRUE(here.answers->request(request_of(3, 7)));
  EXPECT_TRUE(here.answers->request(DetectLanguage{.window = 3}));
  EXPECT_TRUE(here.replies.empty());
  here.encode(3);
  EXPECT_EQ(here.names(), (Names{"Opened", "Language", "Aligned"}));
  here.step_until_idle();
  ASSERT_EQ(here.replies.size(), 1U);
  expect_answer(std::get<Decoded>(here.replies[0]), 3, request_of(3, 7));
}

TEST(WindowAnswers, EncodedWindowIsAnsweredAtOnce) {
  AnswersHere here;
  here.open(3);
  here.encode(3);
  EXPECT_FALSE(here.answers->request(DetectLanguage{.window = 3}));
  EXPECT_EQ(here.names(), (Names{"Opened", "Language"}));
}

TEST(WindowAnswers, RequestOfAnUnknownWindowFails) {
  AnswersHere here;
  EXPECT_FALSE(here.answers->request(request_of(3, 7)));
  EXPECT_EQ(here.names(), (Names{"Failed 7"}));
}

TEST(WindowAnswers, WindowIsOpenedOnce) {
  AnswersHere here;
  here.open(3);
  EXPECT_FALSE(here.answers->open({.window = 3}, tl::unexpected(Error{Fault::corrupt, "cut short"})));
  ASSERT_EQ(here.replies.size(), 1U);
  EXPECT_EQ(std::get<Failed>(here.replies[0]).what, "window 3 is open already");
}

TEST(WindowAnswers, FailedEncodingFailsEveryRequestAndClosesTheWindow) {
  AnswersHere here;
  here.open(3);
  EXPECT_TRUE(here.answers->request(request_of(3, 7)));
  EXPECT_TRUE(here.answers->request(request_of(3, 8)));
  EXPECT_TRUE(here.answers->request(AlignWindow{.window = 3, .request = 9}));
  here.answers->encoded({.ids = {3}, .kvs = tl::unexpected(Error{Fault::exhausted, "no memory"})});
  EXPECT_EQ(here.names(), (Names{"Failed 0", "Failed 7", "Failed 8", "Failed 9"}));
  EXPECT_FALSE(here.answers->request(request_of(3, 10)));
}

TEST(WindowAnswers, OnlyWindowsThatNoRequestHoldsAreClosedAsIdle) {
  AnswersHere here;
  for (const WindowId id : {1, 2}) {
    here.open(id);
    here.encode(id);
  }
  EXPECT_FALSE(here.answers->request(request_of(1, 7)));
  EXPECT_EQ(here.answers->encoded_windows(), 2);
  EXPECT_EQ(here.answers->close_idle(), "");
  EXPECT_EQ(here.answers->encoded_windows(), 1);
  EXPECT_EQ(here.answers->close_idle(), std::nullopt);
  EXPECT_TRUE(here.answers->request(request_of(2, 8))) << "it has to be encoded again";
}

TEST(WindowAnswers, WindowEncodedOnceMoreIsNotReportedAgain) {
  AnswersHere here;
  here.open(1);
  here.encode(1);
  EXPECT_EQ(here.answers->close_idle(), "");
  EXPECT_TRUE(here.answers->request(DetectLanguage{.window = 1}));
  here.encode(1);
  EXPECT_EQ(here.names(), (Names{"Opened", "Language"}));
}

TEST(WindowAnswers, RequestsWithoutASlotAreTakenBackAndDoneLater) {
  AnswersHere here({}, 1);
  for (const WindowId id : {1, 2}) {
    here.open(id);
    here.encode(id);
    EXPECT_FALSE(here.answers->request(request_of(id, id)));
  }
  here.answers->step();  // window 1 has the slot
  EXPECT_EQ(here.answers->close_waiting(), (std::vector<WindowId>{2}));
  EXPECT_EQ(here.answers->encoded_windows(), 1);
  here.step_until_idle();
  EXPECT_EQ(here.names(), (Names{"Opened", "Opened", "Decoded"}));
  here.encode(2);
  here.step_until_idle();
  ASSERT_EQ(here.replies.size(), 1U);
  expect_answer(std::get<Decoded>(here.replies[0]), 2, request_of(2, 2));
}

TEST(WindowAnswers, StepsWithoutMemoryHalveTheSlotsThenCloseIdleWindows) {
  int steps = 0;
  AnswersHere here({.step =
                        [&] {
                          if (++steps <= 2) throw std::bad_alloc();
                        }},
                   2);
  for (const WindowId id : {1, 2}) {
    here.open(id);
    here.encode(id);
  }
  EXPECT_FALSE(here.answers->request(request_of(1, 2)));
  here.step_until_idle();
  EXPECT_EQ(here.names(), (Names{"Opened", "Opened", "LogLine", "Decoded"}));
  EXPECT_EQ(here.closings, 1);
  EXPECT_EQ(here.answers->encoded_windows(), 1);
}

TEST(WindowAnswers, RequestThatTheModelCannotDoFailsAlone) {
  AnswersHere here;
  here.open(1);
  here.encode(1);
  auto wrong = request_of(1, 7);
  wrong.prompt = {kScriptDims.n_vocab};
  EXPECT_FALSE(here.answers->request(wrong));
  EXPECT_EQ(here.names(), (Names{"Opened", "Failed 7"}));
}

}  // namespace
}  // namespace tutti
