#include "transcript/writers.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>

#include "base/files.h"
#include "base/json.h"
#include "transcript/like_python.h"
#include "transcript/transcript.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

/// What openai-whisper wrote (tools/golden/writers.py).
const Json& golden() {
  static const Json made = Json::parse(read_file(TUTTI_SOURCE_DIR "/tests/data/transcript/writers.json").value());
  return made;
}

std::optional<int> maybe(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<int>());
}

WriterOptions options_from(const Json& options) {
  return {.max_line_width = maybe(options.value("max_line_width", Json())),
          .max_line_count = maybe(options.value("max_line_count", Json())),
          .max_words_per_line = maybe(options.value("max_words_per_line", Json())),
          .highlight_words = options.value("highlight_words", false)};
}

Transcript transcript_of(const Json& made) {
  return read_transcript_json(made["json"].get<std::string>()).value();
}

Transcript segment(std::vector<Segment> segments) {
  return {.text = "", .segments = std::move(segments), .language = "en"};
}

}  // namespace

class WriterCase : public testing::TestWithParam<Format> {};

TEST_P(WriterCase, IsWrittenByteForByteAsTheReferenceDoes) {
  std::size_t compared = 0;
  for (const Json& made : golden()["cases"]) {
    const Json& expected = made[std::string(extension(GetParam()))];
    if (expected.is_null()) continue;  // the reference fails there
    const auto written = format_transcript(transcript_of(made), GetParam(), options_from(made["options"]));
    ASSERT_TRUE(written) << made["name"] << ": " << written.error().text();
    EXPECT_EQ(*written, expected.get<std::string>()) << made["name"];
    ++compared;
  }
  EXPECT_GE(compared, 10U);
}

INSTANTIATE_TEST_SUITE_P(EveryFormat, WriterCase,
                         testing::Values(Format::txt, Format::vtt, Format::srt, Format::tsv, Format::json),
                         [](const auto& chosen) { return std::string(extension(chosen.param)); });

TEST(Subtitles, WordLayoutEqualsReferenceForEveryOptionCombination) {
  for (const Json& made : golden()["grid"]) {
    const Transcript transcript = transcript_of(made);
    for (const Json& row : made["sums"]) {
      const WriterOptions options{.max_line_width = maybe(row[0]),
                                  .max_line_count = maybe(row[1]),
                                  .max_words_per_line = maybe(row[2]),
                                  .highlight_words = row[3]};
      const std::string text = format_transcript(transcript, Format::srt, options).value() +
                               format_transcript(transcript, Format::vtt, options).value();
      const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
      ASSERT_EQ(sum, row[4].get<unsigned long>()) << made["name"] << " " << row << "\n" << text;
    }
  }
}

TEST(Subtitles, ClearedFirstSegmentBecomesAnEmptyCue) {
  const Transcript transcript = segment({Segment{.id = 0, .start = 0, .end = 30},
                                         Segment{.id = 1, .start = 30, .end = 41.2, .text = " late", .tokens = {5}}});
  EXPECT_EQ(format_transcript(transcript, Format::srt).value(),
            "1\n00:00:00,000 --> 00:00:30,000\n\n\n2\n00:00:30,000 --> 00:00:41,200\nlate\n\n");
}

TEST(Subtitles, ATimeBeforeTheStartIsAnErrorThatNamesTheSegment) {
  const Transcript early = segment({Segment{.id = 7, .start = -0.5, .end = 1, .text = " early", .tokens = {5}}});
  for (const Format format : {Format::srt, Format::vtt}) {
    const auto written = format_transcript(early, format);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().what.find("segment 7"), std::string::npos) << written.error().text();
    EXPECT_NE(written.error().what.find("-0.5 s"), std::string::npos) << written.error().text();
  }
  EXPECT_EQ(format_transcript(early, Format::tsv).value(), "start\tend\ttext\n-500\t1000\tearly\n");
}

TEST(Subtitles, AZeroInTheOptionsMeansNoLimit) {
  const Transcript transcript =
      segment({Segment{.text = " a b", .tokens = {5}, .words = {{" a", 0, 0.5, 1}, {" b", 0.5, 1, 1}}}});
  const WriterOptions zeros{.max_line_width = 0, .max_line_count = 0, .max_words_per_line = 0};
  EXPECT_EQ(format_transcript(transcript, Format::srt, zeros).value(),
            format_transcript(transcript, Format::srt).value());
}

TEST(Formats, AllMeansEveryFormatInTheReferencesOrder) {
  EXPECT_EQ(parse_formats("all").value(),
            (std::vector{Format::txt, Format::vtt, Format::srt, Format::tsv, Format::json}));
  EXPECT_EQ(parse_formats("srt").value(), std::vector{Format::srt});
  const auto unknown = parse_formats("doc");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().fault, Fault::usage);
  EXPECT_NE(unknown.error().what.find("'doc'"), std::string::npos);
}

TEST(FloatText, IsPythonsReprForDoublesOfEverySize) {
  for (const Json& row : golden()["floats"])
    ASSERT_EQ(float_text(std::bit_cast<double>(row[0].get<std::uint64_t>())), row[1].get<std::string>());
}

TEST(LikePython, BytesThatAreNotUtf8BecomeReplacementCharactersInJson) {
  EXPECT_EQ(json_text("a\xff\xc3"), "\"a\\ufffd\\ufffd\"");
  EXPECT_EQ(strip("\x80 a \xe2\x80"), "\x80 a \xe2\x80");
  EXPECT_EQ(strip("a \x80"), "a \x80");
}

TEST(TranscriptJson, NamesTheLanguageAsGivenUnlessAnotherWasUsed) {
  const auto language = [](const std::string& called) {
    const auto text = format_transcript(segment({}), Format::json, {.language = called});
    return Json::parse(text.value())["language"].get<std::string>();
  };
  EXPECT_EQ(language("English"), "English");  // what openai-whisper writes with --language English
  EXPECT_EQ(language("en"), "en");
  EXPECT_EQ(language("German"), "en") << "of an English-only model";
}
