#include "transcribe/reports/run_report.h"

#include <gtest/gtest.h>

#include "support/expect_output.h"

using namespace tutti;

namespace {

RunSummary one_file() {
  return {.files = 1,
          .done = 1,
          .audio = Seconds(30),
          .elapsed = Seconds(10),
          .model_load = Seconds(1),
          .spent = {.encoder = Seconds(2), .decoder = Seconds(3)},
          .counts = {.windows = 1, .decodings = 1}};
}

}  // namespace

TEST(SummaryText, TheWorkersTimeAddsUpToTheRuns) {
  const std::string text = summary_text(one_file());
  expect_output(text, "1 of 1 files done: 0:30 of audio in 10.0 s, 3.0 × real time");
  expect_output(text, "idle          4.00 s   40.0 %");
  expect_output(text, "1 window, 1 decoding,");
}

TEST(SummaryText, WorkThatCameToNothingIsNotCalledIdle) {
  RunSummary interrupted = one_file(), failed = one_file(), restarted = one_file();
  interrupted.interrupted = true;
  failed.unfinished_work = true;
  restarted.worker_restarts = 1;
  for (const RunSummary& summary : {interrupted, failed, restarted}) {
    const std::string text = summary_text(summary);
    expect_output(text, "other         4.00 s   40.0 %");
    expect_output(text, "Other: idle, or at work on what came to no transcript");
    EXPECT_EQ(text.find("  idle"), std::string::npos) << text;
  }
}
