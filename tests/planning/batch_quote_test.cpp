#include "planning/batch/batch_quote.h"

#include <gtest/gtest.h>

#include "support/log_capture.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// A GPU of ten times real time.
QuoteBasis basis() {
  return {.question = {.targets = {{.id = "card", .speed = 10}}}, .on = {{.fits = 8, .in_flight = 8}}};
}

BatchReport report(std::size_t done, std::vector<Seconds> transcribed) {
  return {.done_now = done, .transcribed = std::move(transcribed)};
}

}  // namespace

TEST(BatchQuote, UnknownLengthKeepsTheEstimateOfOthers) {
  LogCapture log;
  StartQuote quote(basis());
  quote.expect({.lengths = {Seconds(600), Seconds(300)}, .unknown = 1});
  const auto expected = quote.of(report(2, {Seconds(600), Seconds(300)}));  // the third one had no audio
  ASSERT_TRUE(expected);
  EXPECT_NEAR(expected->time.expected.count(), 90, 1);
  const std::string output = log.wait_for("Expected: 15:00 of audio").text;
  EXPECT_NE(output.find("length is not known come on top: 1"), std::string::npos) << output;
}

TEST(BatchQuote, RunWithUnknownLengthTranscribedHasNoComparison) {
  StartQuote quote(basis());
  quote.expect({.lengths = {Seconds(600)}, .unknown = 1});
  EXPECT_FALSE(quote.of(report(2, {Seconds(600)})));
}

TEST(BatchQuote, ClipTimestampsDisableTheEstimate) {
  const TempFolder folder;
  BatchOptions options;
  options.state = folder.path();
  options.run.batched = true;
  EXPECT_TRUE(quote_basis(options).foreseen);
  options.run.long_form.clip_timestamps = {0, 60};
  EXPECT_FALSE(quote_basis(options).foreseen);
}

TEST(BatchQuote, FailedRecordingsAreLeftOutOfTheComparedPlan) {
  StartQuote quote(basis());
  quote.expect({.lengths = {Seconds(600), Seconds(300)}});
  const auto expected = quote.of(report(1, {Seconds(300)}));
  ASSERT_TRUE(expected);
  EXPECT_NEAR(expected->time.expected.count(), 30, 1);
}
