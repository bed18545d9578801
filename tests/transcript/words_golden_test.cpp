#include <gtest/gtest.h>

#include "base/files.h"
#include "golden_scenarios.h"

using namespace tutti;

namespace {

/// What openai-whisper's own transcribe() did with scripted answers and alignments (tools/golden/words.py).
const Json& golden() {
  static const Json made = Json::parse(read_file(TUTTI_SOURCE_DIR "/tests/data/transcript/words.json").value());
  return made;
}

}  // namespace

TEST(WordTimes, AreAskedForAndSetAsInTheReferenceInEveryScenario) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
  expect_every_scenario(golden(), 400);
}
