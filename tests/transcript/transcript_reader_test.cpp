#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "transcript/transcript.h"
#include "transcript/writers.h"

using namespace tutti;

namespace {

std::string error_of(std::string_view json) {
  const auto read = read_transcript_json(json);
  return read ? "no error" : read.error().what;
}

}  // namespace

TEST(TranscriptReader, WrittenTranscriptReadsBackEqual) {
  const Segment odd{.id = 3,
                    .seek = 6000,
                    .start = 0.1 + 0.2,
                    .end = 61.02,
                    .text = " \"Ünï\" \\ NaN, Infinity",
                    .tokens = {50364, 7, 50414},
                    .temperature = 0.6000000000000001,
                    .avg_logprob = -INFINITY,
                    .compression_ratio = 1.0 / 3,
                    .no_speech_prob = std::nan(""),
                    .words = {{" \"Ünï\"", 0.3, 0.5, 0.25}}};
  const std::string written = transcript_json({.text = "t", .segments = {odd}, .language = "de"});
  EXPECT_EQ(transcript_json(read_transcript_json(written).value()), written);
}

TEST(TranscriptReader, WhisperXWordsGetTextSpacesAndNeighboursTimes) {
  const auto read =
      read_transcript_json(R"({"segments": [{"start": 1.0, "end": 4.0, "text": " In 1984, yes.", "words": [
      {"word": "In", "start": 1.0, "end": 1.25, "score": 0.5}, {"word": "1984,"},
      {"word": "yes.", "start": 3.0, "end": 4.0, "score": 0.75, "speaker": "A"}]}],
      "word_segments": [], "language": "en"})");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->text, " In 1984, yes.");
  EXPECT_EQ(read->segments[0].words[1].start, 1.25);
  EXPECT_EQ(read->segments[0].words[2].probability, 0.75);
  EXPECT_EQ(format_transcript(*read, Format::srt).value(), "1\n00:00:01,000 --> 00:00:04,000\nIn 1984, yes.\n\n");
}

TEST(TranscriptReader, ATranscriptWithoutTextAtTheTopGetsItFromItsSegments) {
  const auto read = read_transcript_json(
      R"({"segments": [{"start": 0, "end": 1, "text": " one"}, {"start": 1, "end": 2, "text": "two"}]})");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->text, " one two");
  EXPECT_EQ(read->segments[1].id, 1);
}

TEST(TranscriptReader, ErrorsNameFieldExpectedAndFound) {
  EXPECT_EQ(error_of(R"([1])"), "transcript JSON, the document: expected an object with \"segments\", found an array");
  EXPECT_EQ(error_of(R"({"text": ""})"), "transcript JSON, segments: expected an array, found nothing");
  EXPECT_EQ(error_of(R"({"segments": [{"start": 0, "end": "x", "text": ""}]})"),
            "transcript JSON, segments[0].end: expected a number, found \"x\"");
  EXPECT_EQ(error_of(R"({"segments": [{"start": 0, "text": ""}]})"),
            "transcript JSON, segments[0].end: expected a time in seconds, found nothing");
  EXPECT_EQ(error_of(R"({"segments": [{"start": NaN, "end": 1, "text": ""}]})"),
            "transcript JSON, segments[0].start: expected a time in seconds, found null");
  EXPECT_EQ(error_of(R"({"segments": [{"start": 0, "end": 1}]})"),
            "transcript JSON, segments[0].text: expected text, found nothing");
  EXPECT_EQ(error_of(R"({"segments": [{"start": 0, "end": 1, "text": "", "tokens": [1, "b"]}]})"),
            "transcript JSON, segments[0].tokens: expected whole numbers, found \"b\"");
  EXPECT_EQ(error_of(R"({"segments": [{"start": 0, "end": 1, "text": "", "words": [{"start": 0}]}]})"),
            "transcript JSON, segments[0].words[0]: expected an object with \"word\", found an object");
}

TEST(TranscriptReader, InvalidJsonErrorNamesPositionWithoutLibraryIds) {
  for (const char* broken : {"", "{\"text\": \"x", "{\"segments\": [{\"start\": 1e999}]}"}) {
    const auto read = read_transcript_json(broken);
    ASSERT_FALSE(read) << broken;
    EXPECT_EQ(read.error().what.find("json.exception"), std::string::npos) << read.error().what;
    EXPECT_TRUE(read.error().what.starts_with("transcript JSON: parse error at line 1, column ") ||
                read.error().what.starts_with("transcript JSON: number overflow parsing '1e999'"))
        << read.error().what;
  }
}

TEST(TranscriptReader, TruncatedFileIsCorrupt) {
  const std::string whole = transcript_json({.text = "t", .segments = {Segment{.text = " a"}}, .language = "en"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = read_transcript_json(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().fault, Fault::corrupt);
  }
}

TEST(TranscriptReader, ADamagedFileIsRefusedOrReadButNeverMore) {
  const std::string whole = transcript_json(
      {.text = "ä",
       .segments = {Segment{.start = 0.5, .end = 1e-5, .text = " a", .tokens = {1, 2}, .words = {{" a", 0, 1, 1}}}},
       .language = "en"});
  std::mt19937 random(3);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  const auto formats = parse_formats("all").value();
  std::size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (std::size_t hits = 1 + below(4); hits > 0; --hits) {
      const std::string_view junk = "{}[]\",:0-9e+.N\\u\xff\0I";
      damaged[below(damaged.size())] = junk[below(junk.size())];
    }
    const auto read = read_transcript_json(damaged);
    if (!read) {
      EXPECT_EQ(read.error().fault, Fault::corrupt);
      ++refused;
      continue;
    }
    for (const Format format : formats) {
      const auto written = format_transcript(*read, format);
      EXPECT_TRUE(written || written.error().what.starts_with("segment")) << damaged;
    }
  }
  EXPECT_GT(refused, 2000U);
}

TEST(TranscriptReader, EndlessNestingAndEndlessNumbersAreErrorsNotCrashes) {
  const std::string deep(200'000, '[');
  EXPECT_NE(error_of(deep), "no error");
  EXPECT_EQ(error_of(R"({"segments": [)" + deep + std::string(deep.size(), ']') + "]}"),
            "transcript JSON, segments[0]: expected an object, found an array");
  EXPECT_NE(error_of(R"({"segments": [{"start": 1e999, "end": 1, "text": ""}]})"), "no error");
}
