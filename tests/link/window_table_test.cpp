#include "link/window_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link/wire.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

void submit_open(WindowTable& table, WindowId window) {
  ASSERT_TRUE(table.submit(OpenWindow{.window = window}));
}

void submit_decode(WindowTable& table, WindowId window) {
  ASSERT_TRUE(table.submit(DecodeWindow{.window = window, .request = window + 100}));
}

void hear_decoded(WindowTable& table, WindowId window) {
  ASSERT_TRUE(table.on_message(Decoded{.window = window, .request = window + 100, .steps = 2, .seconds = 0.5}));
}

// The messages to the worker, such as "OpenWindow 3".
std::vector<std::string> reported(WindowTable& table) {
  std::vector<std::string> lines;
  for (const auto& order : table.due()) {
    std::string line(name_of(order.message));
    if (const auto* open = std::get_if<OpenWindow>(&order.message)) line += " " + std::to_string(open->window);
    if (const auto* decode = std::get_if<DecodeWindow>(&order.message)) line += " " + std::to_string(decode->window);
    if (const auto* release = std::get_if<ReleaseWindow>(&order.message)) line += " " + std::to_string(release->window);
    lines.push_back(line);
  }
  return lines;
}

// A window that is open, with its decoding in flight.
void put_in_flight(WindowTable& table, WindowId window) {
  submit_open(table, window);
  table.due();
  ASSERT_TRUE(table.on_message(Opened{.window = window}));
  ASSERT_TRUE(table.take(window));
  submit_decode(table, window);
  table.due();
}

}  // namespace

TEST(WindowTable, CancelledRequestFailsAtOnceAndIsReleased) {
  WindowTable table;
  put_in_flight(table, 3);
  table.cancel(3, {Fault::cancelled, "its caller has left"});
  ASSERT_TRUE(table.answered(3));
  EXPECT_EQ(table.take(3).error().fault, Fault::cancelled);
  table.release(3);
  EXPECT_THAT(reported(table), ElementsAre("ReleaseWindow 3"));
}

TEST(WindowTable, RequestForSpeakersOpensNoWindowAndIsForgotten) {
  WindowTable table;
  const AnalyzeSpeakers request{.window = 4, .network = "embedding", .lengths = {150}};
  ASSERT_TRUE(table.submit(request));
  EXPECT_FALSE(table.submit(request)) << "its number is in use";
  EXPECT_THAT(reported(table), ElementsAre("AnalyzeSpeakers"));
  ASSERT_TRUE(table.on_message(SpeakersAnalyzed{.window = 4, .values = {0.5F}}));
  ASSERT_TRUE(table.answered(4));
  EXPECT_TRUE(table.take(4));
  EXPECT_THAT(reported(table), IsEmpty()) << "there is nothing to release";
  ASSERT_TRUE(table.submit(request));
  EXPECT_THAT(reported(table), ElementsAre("AnalyzeSpeakers"));
  ASSERT_TRUE(table.on_message(Failed{.window = 4, .fault = Fault::usage, .what = "no such network"}));
  EXPECT_EQ(table.take(4).error().fault, Fault::usage);
}

TEST(WindowTable, AnswerToACancelledRequestIsIgnored) {
  WindowTable table;
  put_in_flight(table, 3);
  submit_open(table, 4);
  table.due();
  table.cancel(3, {Fault::cancelled, "its caller has left"});
  table.cancel(4, {Fault::cancelled, "its caller has left"});
  hear_decoded(table, 3);  // sent before the worker knew
  EXPECT_FALSE(table.take(3));
  EXPECT_FALSE(table.take(4));
  table.release(3);
  EXPECT_TRUE(table.on_message(Opened{.window = 4}));
  EXPECT_TRUE(table.on_message(Failed{.window = 3, .request = 103}));
  EXPECT_FALSE(table.on_message(Decoded{.window = 5, .request = 105}));
}

TEST(WindowTable, WindowIsOpenedDecodedAndReleasedOnceEach) {
  WindowTable table;
  submit_open(table, 3);
  EXPECT_THAT(reported(table), ElementsAre("OpenWindow 3"));
  EXPECT_THAT(reported(table), IsEmpty());
  EXPECT_FALSE(table.answered(3));
  ASSERT_TRUE(table.on_message(Opened{.window = 3, .encode_seconds = 0.25}));
  ASSERT_TRUE(table.answered(3));
  EXPECT_TRUE(table.take(3));
  submit_decode(table, 3);
  EXPECT_THAT(reported(table), ElementsAre("DecodeWindow 3"));
  hear_decoded(table, 3);
  EXPECT_EQ(std::get<Decoded>(*table.take(3)).request, 103U);
  table.release(3);
  EXPECT_THAT(reported(table), ElementsAre("ReleaseWindow 3"));
  EXPECT_THAT(reported(table), IsEmpty());
}

TEST(WindowTable, UnrequestedAnswerIsRefused) {
  WindowTable table;
  put_in_flight(table, 3);
  const std::vector<ToControl> wrong{Opened{.window = 3},
                                     Opened{.window = 9},
                                     Language{.window = 3},
                                     Decoded{.window = 9, .request = 103},
                                     Decoded{.window = 3, .request = 104},
                                     Failed{.window = 9},
                                     Pong{},
                                     Hello{}};
  for (const ToControl& message : wrong) {
    const auto on_message = table.on_message(message);
    ASSERT_FALSE(on_message) << name_of(message);
    EXPECT_EQ(on_message.error().fault, Fault::corrupt);
  }
  hear_decoded(table, 3);
  EXPECT_FALSE(table.on_message(Decoded{.window = 3, .request = 103})) << "the same answer twice";
}

TEST(WindowTable, AlignmentMustCoverEveryRequestedToken) {
  WindowTable table;
  put_in_flight(table, 3);
  hear_decoded(table, 3);
  ASSERT_TRUE(table.take(3));
  ASSERT_TRUE(table.submit(AlignWindow{.window = 3, .request = 5, .text_tokens = {10, 11}}));
  table.due();
  EXPECT_FALSE(table.on_message(Aligned{.window = 3, .request = 5, .starts = {0, 1}, .probabilities = {1.0F, 1.0F}}));
  EXPECT_FALSE(table.on_message(Aligned{.window = 3, .request = 5, .starts = {0, 1, 2}, .probabilities = {1.0F}}));
  EXPECT_FALSE(
      table.on_message(Aligned{.window = 3, .request = 6, .starts = {0, 1, 2}, .probabilities = {1.0F, 1.0F}}));
  EXPECT_FALSE(table.on_message(Decoded{.window = 3, .request = 5}));
  EXPECT_TRUE(table.on_message(Aligned{.window = 3, .request = 5, .starts = {0, 1, 2}, .probabilities = {1.0F, 1.0F}}));
  EXPECT_EQ(std::get<Aligned>(*table.take(3)).starts.back(), 2);
}

TEST(WindowTable, LanguagesWithoutAProbabilityEachAreRefused) {
  WindowTable table;
  put_in_flight(table, 3);
  hear_decoded(table, 3);
  ASSERT_TRUE(table.take(3));
  ASSERT_TRUE(table.submit(DetectLanguage{.window = 3}));
  table.due();
  EXPECT_FALSE(table.on_message(Language{.window = 3, .tokens = {1, 2}, .probabilities = {1.0F}}));
  EXPECT_TRUE(table.on_message(Language{.window = 3, .tokens = {1}, .probabilities = {1.0F}}));
}

TEST(WindowTable, FailureIsPassedOnAndUnopenedWindowForgotten) {
  WindowTable table;
  submit_open(table, 3);
  table.due();
  ASSERT_TRUE(table.on_message(Failed{.window = 3, .fault = Fault::exhausted, .what = "out of memory"}));
  const auto reply = table.take(3);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().fault, Fault::exhausted);
  EXPECT_EQ(reply.error().what, "out of memory");
  EXPECT_THAT(table.submit(DecodeWindow{.window = 3}).error().what, HasSubstr("not open"));
}

TEST(WindowTable, ClosingRefusesWhatHasNotBegunAndAbandoningTheRest) {
  WindowTable table;
  put_in_flight(table, 1);
  submit_open(table, 2);
  table.close({Fault::cancelled, "stopped"});
  EXPECT_TRUE(table.answered(2));
  EXPECT_FALSE(table.answered(1));
  EXPECT_EQ(table.submit(OpenWindow{.window = 5}).error().what, "stopped");
  EXPECT_FALSE(table.idle());
  table.abandon({Fault::cancelled, "stopped"});
  EXPECT_TRUE(table.idle());
  EXPECT_EQ(table.take(1).error().fault, Fault::cancelled);
}

TEST(WindowTable, OneRequestPerWindowAtATime) {
  WindowTable table;
  put_in_flight(table, 1);
  EXPECT_THAT(table.submit(DecodeWindow{.window = 1}).error().what, HasSubstr("has a request waiting already"));
  EXPECT_THAT(table.submit(OpenWindow{.window = 1}).error().what, HasSubstr("in use"));
  EXPECT_FALSE(table.submit(OpenWindow{.window = 0})) << "0 means the worker as a whole";
  EXPECT_THROW(table.release(1), std::logic_error);
}

TEST(WindowTable, OnlyADecodingOrALanguageIsFinishedWork) {
  WindowTable table;
  put_in_flight(table, 1);
  EXPECT_FALSE(table.has_finished_work()) << "it is only open";
  hear_decoded(table, 1);
  EXPECT_TRUE(table.has_finished_work());
}
