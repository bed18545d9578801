// The log lines of --compute-type in a run: which type was chosen, and why.

#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// `tutti transcribe` of a sample with the model that ships, on the CPU.
ProgramEnd transcribe(const TempFolder& folder, const std::string& compute_type) {
  return run_program({tutti_program(), "transcribe", "--model", TUTTI_SOURCE_DIR "/models/nano", "--device", "cpu",
                      "--compute-type", compute_type, "--language", "en", "--output-dir", (folder / "out").string(),
                      TUTTI_SOURCE_DIR "/samples/george.wav"},
                     {"TUTTI_CACHE=" + (folder / "cache").string()});
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST(ComputeTypeOfARun, ThatTheDeviceDoesNotHaveFallsBackWithOneLine) {
  const TempFolder folder;
  const ProgramEnd end = transcribe(folder, "float16");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(count_of("compute type float16: float32 is used, because CPUs do not compute in float16\n", end.err), 1U)
      << end.err;
  EXPECT_EQ(count_of("compute type", transcribe(folder, "float32").err), 0U) << "a supported type is not mentioned";
}

TEST(ComputeTypeOfARun, AutoNamesTypeAndReasonAndTestsOnlyOnce) {
  const TempFolder folder;
  const ProgramEnd first = transcribe(folder, "auto"), second = transcribe(folder, "auto");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_EQ(second.exit_code, 0) << second.err;
  for (const auto* end : {&first, &second}) {
    EXPECT_EQ(count_of("fastest in the self-test, per window: float32 ", end->err), 1U) << end->err;
  }
  EXPECT_EQ(count_of("trying what this device can do", first.err), 1U) << first.err;
  EXPECT_EQ(count_of("trying what this device can do", second.err), 0U) << second.err;
}
