// OpenAI's complete tiny.en on real English: word for word what openai-whisper 20250625 finds with the same weights in
// float32, and in every type and mode as near to what was read.

#include <gtest/gtest.h>

#include <cstdio>

#include "system/lj003.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

// Where the reference decides by less than this, another processor's sums may rightly decide otherwise.
constexpr double kNarrow = 1e-4;

const std::vector<std::string> kBeams{};  // five are the default
const std::vector<std::string> kGreedy{"--beam-size", "None"};
const std::vector<std::string> kAtZero{"--temperature-increment-on-fallback", "None"};  // as the reference was run

std::vector<std::string> flags_of(const std::string& compute_type, std::vector<std::string> flags,
                                  const std::vector<std::string>& more = {}) {
  flags.insert(flags.end(), more.begin(), more.end());
  flags.insert(flags.end(), {"--compute-type", compute_type});
  return flags;
}

/// The reference's transcripts by the clips' ids. `search`: "beams" or "greedy".
std::map<std::string, Json> reference_transcripts(const std::string& search) {
  const auto path = std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/system/real_english.json";
  const Json golden = Json::parse(read_file(path).value());
  std::map<std::string, Json> transcripts;
  for (const Json& clip : golden["clips"])
    transcripts[std::filesystem::path(clip["path"].get<std::string>()).stem()] = clip[search];
  return transcripts;
}

std::vector<int> tokens_of(const Json& transcript) {
  std::vector<int> tokens;
  for (const Json& segment : transcript["segments"])
    for (const int token : segment["tokens"]) tokens.push_back(token);
  return tokens;
}

/// Text and tokens of every clip are the reference's, but for clips that it decides narrowly.
void expect_reference_text(const std::map<std::string, Json>& transcripts, const std::string& search) {
  const auto references = reference_transcripts(search);
  std::size_t narrow = 0, narrow_and_different = 0;
  for (const auto& [id, transcript] : transcripts) {
    const Json& reference = references.at(id);
    const bool same = transcript["text"] == reference["text"] && tokens_of(transcript) == reference["tokens"];
    if (reference["least_margin"] < kNarrow) {
      ++narrow;
      if (!same) ++narrow_and_different;
      continue;
    }
    EXPECT_EQ(transcript["text"], reference["text"]) << id;
    EXPECT_EQ(tokens_of(transcript), reference["tokens"].get<std::vector<int>>()) << id;
  }
  EXPECT_LE(narrow, transcripts.size() / 5) << "too few clips are left to compare";
  std::printf("%zu clips, %zu decided by less than 1e-4, %zu of these differ\n", transcripts.size(), narrow,
              narrow_and_different);
}

double measured(const std::vector<SpokenClip>& clips, const std::map<std::string, Json>& transcripts) {
  const double errors = word_errors(clips, transcripts);
  std::printf("%.2f %% word errors on %zu clips\n", errors, clips.size());
  return errors;
}

}  // namespace

TEST(RealEnglish, Float32WithBeamsMatchesReference) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const auto clips = every_fifth(lj003_clips());
  const auto transcripts = transcripts_of(clips, real_model(), flags_of("float32", kBeams, kAtZero));
  expect_reference_text(transcripts, "beams");
  EXPECT_LE(measured(clips, transcripts), 12.5);
}

TEST(RealEnglish, Int8BatchedGreedyKeepsWordErrorsLow) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const auto clips = every_fifth(lj003_clips());
  auto flags = flags_of("int8", kGreedy);
  flags.emplace_back("--batched");
  // A word is 0.4 points of so few clips, and int8 rounds otherwise on every kind of processor: EveryModeLong
  // holds 13.5.
  EXPECT_LE(measured(clips, transcripts_of(clips, real_model(), flags)), 15);
}

TEST(RealEnglishLong, Float32WithBeamsMatchesReferenceOnAllClips) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const auto clips = lj003_clips();
  const auto transcripts = transcripts_of(clips, real_model(), flags_of("float32", kBeams, kAtZero));
  expect_reference_text(transcripts, "beams");
  EXPECT_LE(measured(clips, transcripts), 12.5);
}

TEST(RealEnglishLong, Float32GreedyMatchesReferenceOnAllClips) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const auto clips = lj003_clips();
  const auto transcripts = transcripts_of(clips, real_model(), flags_of("float32", kGreedy, kAtZero));
  expect_reference_text(transcripts, "greedy");
  EXPECT_LE(measured(clips, transcripts), 13.6);  // the reference's own are 13.52
}

namespace {

struct Mode {
  const char* name;
  const char* compute_type;
  std::vector<std::string> flags;
};

void PrintTo(const Mode& mode, std::ostream* out) {
  *out << mode.name;
}

class EveryModeLong : public testing::TestWithParam<Mode> {};

}  // namespace

TEST_P(EveryModeLong, KeepsWordErrorsOfAllClipsLow) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const auto clips = lj003_clips();
  const Mode& mode = GetParam();
  const auto transcripts = transcripts_of(clips, real_model(), flags_of(mode.compute_type, mode.flags));
  EXPECT_LE(measured(clips, transcripts), 13.5);
}

INSTANTIATE_TEST_SUITE_P(
    RealEnglish, EveryModeLong,
    testing::Values(Mode{"Int8Beams", "int8", kBeams}, Mode{"Int8Greedy", "int8", kGreedy},
                    Mode{"Int8BatchedBeams", "int8", {"--batched"}},
                    Mode{"Int8BatchedGreedy", "int8", {"--batched", "--beam-size", "None"}},
                    Mode{"Bfloat16Beams", "bfloat16", kBeams}, Mode{"Bfloat16Greedy", "bfloat16", kGreedy},
                    Mode{"Bfloat16BatchedBeams", "bfloat16", {"--batched"}},
                    Mode{"Bfloat16BatchedGreedy", "bfloat16", {"--batched", "--beam-size", "None"}},
                    Mode{"Float32BatchedBeams", "float32", {"--batched"}},
                    Mode{"Float32BatchedGreedy", "float32", {"--batched", "--beam-size", "None"}}),
    [](const auto& mode) { return mode.param.name; });
