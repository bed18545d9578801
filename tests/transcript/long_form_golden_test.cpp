#include <gtest/gtest.h>

#include "base/files.h"
#include "golden_scenarios.h"
#include "transcript/fallback.h"

using namespace tutti;

namespace {

/// What openai-whisper's own transcribe() did with scripted answers (tools/golden/long_form.py).
const Json& golden() {
  static const Json made = Json::parse(read_file(TUTTI_SOURCE_DIR "/tests/data/transcript/long_form.json").value());
  return made;
}

}  // namespace

TEST(LongForm, RequestsAndResultsEqualReferenceInEveryScenario) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
  expect_every_scenario(golden(), 400);
}

TEST(Fallback, StepsThroughTheTemperaturesOfTheReferencesCommandLine) {
  for (const Json& row : golden()["temperatures"]) {
    std::string text;
    const auto made = fallback_temperatures(row[0], row[1].get<double>()).value();
    for (const double temperature : made) text += (text.empty() ? "[" : ", ") + float_text(temperature);
    EXPECT_EQ(text + "]", row[2].get<std::string>());
  }
}
