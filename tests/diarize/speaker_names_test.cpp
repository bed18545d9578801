#include "diarize/speaker_names.h"

#include <gmock/gmock.h>

#include "diarize/rttm.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SpeakerNames kNames{{"SPEAKER_00", "Anna \"A.\" Ö"}, {"SPEAKER_01", "Bert"}};
const std::vector<std::string> kSpeakers{"SPEAKER_00", "SPEAKER_01", "SPEAKER_02"};

/// Two speakers with words, of whom the first one speaks twice.
Transcript talk() {
  Transcript transcript{.text = " Good day. Yes, yes. Well.", .segments = {}, .language = "en"};
  transcript.segments = {
      {.id = 0, .start = 0, .end = 2, .text = " Good day.", .words = {{" Good", 0, 1, 1}, {" day.", 1, 2, 1}}},
      {.id = 1, .start = 2, .end = 4, .text = " Yes, yes.", .words = {{" Yes,", 2, 3, 1}, {" yes.", 3, 4, 1}}},
      {.id = 2, .start = 5, .end = 6, .text = " Well.", .words = {{" Well.", 5, 6, 1}}}};
  transcript.segments[0].speaker = transcript.segments[2].speaker = "SPEAKER_00";
  transcript.segments[1].speaker = "SPEAKER_01";
  return transcript;
}

/// Renaming in a file is what the writers make of a renamed transcript.
Transcript renamed_talk() {
  Transcript transcript = talk();
  for (Segment& segment : transcript.segments) segment.speaker = kNames.at(segment.speaker);
  return transcript;
}

TEST(SpeakerNames, NameIsTextInOneLineWithoutBlanksAround) {
  EXPECT_TRUE(is_speaker_name("Jörg von Ä"));
  for (const char* name : {"", " ", " Anna", "Anna\t", "Anna\nBen", "\xff"})
    EXPECT_FALSE(is_speaker_name(name)) << name;
}

TEST(SpeakerNames, EveryFormatIsAsIfWrittenWithTheNewNames) {
  const WriterOptions layouts[] = {{},
                                   {.max_words_per_line = 1},
                                   {.max_line_width = 12, .max_line_count = 1},
                                   {.highlight_words = true},
                                   {.paragraphs = 1.0}};
  for (const Format format : {Format::txt, Format::vtt, Format::srt, Format::tsv, Format::json})
    for (const WriterOptions& layout : layouts)
      EXPECT_EQ(with_speaker_names(format_transcript(talk(), format, layout).value(), format, kNames),
                format_transcript(renamed_talk(), format, layout).value());
  const auto rttm = [](const Transcript& transcript) {
    std::vector<SpeakerTurn> turns;
    for (const Segment& segment : transcript.segments) turns.push_back({segment.start, segment.end, segment.speaker});
    return rttm_text("a talk", turns);
  };
  EXPECT_EQ(with_speaker_names(rttm(talk()), Format::rttm, kNames), rttm(renamed_talk()));
}

TEST(SpeakerNames, OtherBytesStayWhateverTheyAre) {
  EXPECT_EQ(with_speaker_names(R"({ "speaker" : "SPEAKER_01", "x": "\"speaker\": \"SPEAKER_01\"", "text": "speaker"})",
                               Format::json, kNames),
            R"({ "speaker" : "Bert", "x": "\"speaker\": \"SPEAKER_01\"", "text": "speaker"})");
  EXPECT_EQ(with_speaker_names("[SPEAKER_01]: a [SPEAKER_01]: b\r\n [SPEAKER_01]: c", Format::txt, kNames),
            "[Bert]: a [SPEAKER_01]: b\r\n [SPEAKER_01]: c");
  EXPECT_EQ(with_speaker_names("1\n0 --> 1\n[SPEAKER_01]: a\n[SPEAKER_01]: b\n\n", Format::srt, kNames),
            "1\n0 --> 1\n[Bert]: a\n[SPEAKER_01]: b\n\n");
  const std::string rttm = ";; SPEAKER_01\nSPEAKER SPEAKER_01 1\t0 1 <NA> <NA>  SPEAKER_01\nSPEAKER x";
  EXPECT_EQ(with_speaker_names(rttm, Format::rttm, kNames),
            ";; SPEAKER_01\nSPEAKER SPEAKER_01 1\t0 1 <NA> <NA>  Bert\nSPEAKER x");
}

TEST(SpeakerNames, TwoSpeakersMayChangeNames) {
  const SpeakerNames swapped{{"SPEAKER_00", "SPEAKER_01"}, {"SPEAKER_01", "SPEAKER_00"}};
  EXPECT_TRUE(check_speaker_names(swapped, kSpeakers));
  EXPECT_EQ(with_speaker_names("[SPEAKER_00]: a\n[SPEAKER_01]: b\n", Format::txt, swapped),
            "[SPEAKER_01]: a\n[SPEAKER_00]: b\n");
}

TEST(SpeakerNames, UnknownAndTakenNamesAreRefused) {
  EXPECT_THAT(speakers_of(talk()), ElementsAre("SPEAKER_00", "SPEAKER_01"));
  const auto error = [](const SpeakerNames& names) {
    const auto checked = check_speaker_names(names, kSpeakers);
    return checked ? "" : checked.error().text();
  };
  EXPECT_THAT(error({{"SPEAKER_07", "Anna"}}), HasSubstr("'SPEAKER_07' is no speaker"));
  EXPECT_THAT(error({{"SPEAKER_07", "Anna"}}), HasSubstr("SPEAKER_00, SPEAKER_01, SPEAKER_02"));
  EXPECT_THAT(error({{"SPEAKER_00", "SPEAKER_01"}}), HasSubstr("would be the name of two speakers"));
  EXPECT_THAT(error({{"SPEAKER_00", "Anna"}, {"SPEAKER_01", "Anna"}}), HasSubstr("'Anna'"));
  EXPECT_EQ(error({{"SPEAKER_00", "Anna"}}), "");
  EXPECT_THAT(check_speaker_names(kNames, {}).error().text(), HasSubstr("It has none"));
}

TEST(OwnOutput, AnyLayoutIsKnownAndAnEditedTextIsNot) {
  const WriterOptions layouts[] = {{},
                                   {.max_words_per_line = 1},
                                   {.max_line_width = 12, .max_line_count = 1},
                                   {.highlight_words = true},
                                   {.paragraphs = 1.0}};
  for (const Format format : {Format::txt, Format::vtt, Format::srt, Format::json})
    for (const WriterOptions& layout : layouts) {
      std::string content = format_transcript(talk(), format, layout).value();
      EXPECT_TRUE(is_own_output(content, format, talk(), kSpeakers)) << content;
      if (format == Format::json) continue;
      content.replace(content.find("ell"), 3, "EEL");
      EXPECT_FALSE(is_own_output(content, format, talk(), kSpeakers)) << content;
    }
}

TEST(OwnOutput, NamesOfAnEarlierCallAreKnown) {
  auto speakers = kSpeakers;
  const std::string content = format_transcript(renamed_talk(), Format::srt).value();
  EXPECT_FALSE(is_own_output(content, Format::srt, talk(), speakers));
  for (const auto& [old, name] : kNames) speakers.push_back(name);
  EXPECT_TRUE(is_own_output(content, Format::srt, talk(), speakers));
}

TEST(OwnOutput, JsonOfOthersIsNot) {
  const std::string own = transcript_json(talk());
  EXPECT_FALSE(is_own_output(own + "\n", Format::json, talk(), kSpeakers)) << "it was edited";
  EXPECT_FALSE(is_own_output(R"({"segments": [{"start": 0, "end": 1, "text": "a", "speaker": "SPEAKER_00"}]})",
                             Format::json, talk(), kSpeakers));
  const auto answer = [](const std::string& id) {
    return R"({"task":"transcribe","duration":1.0,"text":"a","segments":[{"type":"transcript.text.segment","id":")" +
           id + R"(","start":0.0,"end":1.0,"speaker":"A","text":"a"}],"usage":{"type":"duration","seconds":1}})";
  };
  EXPECT_TRUE(is_own_output(answer("seg_0") + "\n", Format::json, talk(), kSpeakers)) << "diarized_json";
  EXPECT_TRUE(is_own_output(with_speaker_names(answer("seg_0"), Format::json, {{"A", "Ümit"}}), Format::json, talk(),
                            kSpeakers));
  EXPECT_FALSE(is_own_output(answer("seg_001"), Format::json, talk(), kSpeakers)) << "OpenAI's";
}

TEST(OwnOutput, TurnsOfOthersAreNot) {
  const std::vector<SpeakerTurn> turns{{0, 2, "SPEAKER_00"}, {2, 4, "SPEAKER_01"}, {5, 6, "SPEAKER_00"}};
  const auto is_own = [](const std::string& content) {
    return is_own_output(content, Format::rttm, talk(), kSpeakers);
  };
  EXPECT_TRUE(is_own(rttm_text("talk", turns)));
  EXPECT_FALSE(is_own(rttm_text("talk", {{0, 2, "SPEAKER_01"}, {2, 4, "SPEAKER_00"}, {5, 6, "SPEAKER_01"}})));
  EXPECT_FALSE(is_own(rttm_text("talk", {{0, 2, "SPEAKER_00"}, {2, 4, "Chris"}})));
  EXPECT_FALSE(is_own(";; mine\n" + rttm_text("talk", turns)));
  EXPECT_FALSE(is_own("no RTTM"));
}

}  // namespace
}  // namespace tutti
