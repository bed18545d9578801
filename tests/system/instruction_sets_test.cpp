// Transcription with every set of instructions that this processor has, as TUTTI_INSTRUCTIONS limits them.

#include "base/instruction_sets.h"

#include <gtest/gtest.h>

#include "support/environment.h"
#include "system/lj003.h"

using namespace tutti;

namespace {

constexpr const char* kVariable = "TUTTI_INSTRUCTIONS";
constexpr std::size_t kClips = 5;

/// Texts of a few clips, by their ids, greedy at temperature 0.
std::map<std::string, std::string> texts_under(Instructions most, const std::string& compute_type) {
  const ScopedVariable set(kVariable, std::string(name_of(most)).c_str());
  auto clips = every_fifth(lj003_clips());
  clips.resize(kClips);
  std::map<std::string, std::string> texts;
  for (const auto& [id, transcript] : transcripts_of(
           clips, real_model(),
           {"--beam-size", "None", "--temperature-increment-on-fallback", "None", "--compute-type", compute_type}))
    texts[id] = transcript["text"].get<std::string>();
  return texts;
}

void expect_same_words_under_every_set(const std::string& compute_type) {
  const auto sets = processor_instructions().all();
  if (sets.empty()) GTEST_SKIP() << "another machine: this processor lacks the instructions";
  const auto expected = texts_under(sets.front(), compute_type);
  for (const auto set : sets) EXPECT_EQ(texts_under(set, compute_type), expected) << name_of(set);
}

}  // namespace

TEST(InstructionSets, Float32FindsTheSameWordsUnderEverySet) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  expect_same_words_under_every_set("float32");
}

TEST(InstructionSets, Int8FindsTheSameWordsUnderEverySet) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  expect_same_words_under_every_set("int8");
}

TEST(InstructionSets, NoneLeavesFloat32ToTorch) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const auto best = processor_instructions().all();
  if (best.empty()) GTEST_SKIP() << "another machine: this processor lacks the instructions";
  EXPECT_EQ(texts_under(Instructions::none, "float32"), texts_under(best.back(), "float32"));
}

TEST(InstructionSets, BadValueEndsBothProgramsWithExitCode2) {
  for (const std::string& program : {tutti_program(), std::string(TUTTI_BINARY_DIR "/bin/tutti-engine")}) {
    const auto end = run_program({program, "--version"}, {"TUTTI_INSTRUCTIONS=sse9"});
    EXPECT_EQ(end.exit_code, 2) << program;
    EXPECT_NE(end.err.find("TUTTI_INSTRUCTIONS=sse9"), std::string::npos) << end.err;
  }
  for (const auto set : {Instructions::avx2, Instructions::avxvnni, Instructions::avx512, Instructions::vnni,
                         Instructions::bf16, Instructions::amx}) {
    if (processor_instructions().has(set)) continue;
    const auto value = std::string(kVariable) + "=" + std::string(name_of(set));
    const auto end = run_program({tutti_program(), "doctor"}, {value});
    EXPECT_EQ(end.exit_code, 2) << value;
    EXPECT_NE(end.err.find(value), std::string::npos) << end.err;
  }
}
