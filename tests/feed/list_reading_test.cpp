// Lists as people have them: columns without names, other line ends, encodings and spellings of paths.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "feed/corpus.h"
#include "feed/source/dataset.h"
#include "feed/source/line_index.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> kTexts{"in the then existing state of the law,", "This steward was practically supreme.",
                                      "but all mingled freely during the day in the yard.",
                                      "Order throughout the debtors' side was preserved"};

/// Four recordings, wavs/c0.wav to c3.wav, and lists of them.
class Lists : public testing::Test {
 protected:
  Lists() {
    for (std::uint64_t i = 0; i < kTexts.size(); ++i)
      write_wav(folder_ / ("wavs/c" + std::to_string(i) + ".wav"), audio_of(i, 16000 * (3 + static_cast<int>(i))));
  }
  Result<std::unique_ptr<Dataset>> open(const std::string& text, const std::string& name = "list.csv") {
    (void)write_file_atomically(folder_ / name, text);
    return open_dataset(folder_ / name, "", {});
  }
  /// The lines of a list that can be opened; `what` of those that cannot be used.
  std::vector<DatasetLine> lines(const std::string& text, const std::string& name = "list.csv") {
    const auto set = open(text, name);
    EXPECT_TRUE(set) << text << (set ? "" : set.error().text());
    std::vector<DatasetLine> all;
    conclusion_ = set ? (*set)->conclusion() : "";
    for (std::int64_t i = 0; set && i < (*set)->size(); ++i) {
      const auto line = (*set)->at(i);
      EXPECT_TRUE(line) << text << (line ? "" : line.error().text());
      if (line) all.push_back(*line);
    }
    return all;
  }
  /// Checks that a list has the four recordings with their texts; its speakers are joined by spaces.
  std::string speakers_of(const std::string& text, const std::string& name = "list.csv") {
    const auto found = lines(text, name);
    EXPECT_EQ(found.size(), kTexts.size()) << text;
    std::string speakers;
    for (std::size_t i = 0; i < std::min(found.size(), kTexts.size()); ++i) {
      EXPECT_EQ(found[i].text, kTexts[i]) << text;
      EXPECT_EQ(found[i].audio.lexically_normal(), folder_ / ("wavs/c" + std::to_string(i) + ".wav")) << text;
      speakers += (i > 0 ? " " : "") + found[i].speaker;
    }
    return speakers;
  }
  /// A row a recording: `row` with its number for %, its text for $ and `values` in turn for *.
  static std::string rows(const std::string& row, const std::vector<std::string>& values = {""},
                          const std::string& end = "\n") {
    std::string all;
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      for (const char c : row) {
        if (c == '%')
          all += "c" + std::to_string(i);
        else if (c == '$')
          all += kTexts[i];
        else if (c == '*')
          all += values[i % values.size()];
        else
          all += c;
      }
      all += end;
    }
    return all;
  }
  TempFolder folder_{};
  std::string conclusion_{};
};

const std::vector<std::string> kNames{"anna", "ben"};

TEST_F(Lists, SpeakersAreFoundBesideTextsWithoutNames) {
  for (const char* row : {"%|*|$", "%|$|*", "%|*|en|$", "%|$|*|EN", "wavs/%.wav|*|$", "%|*|$|$"}) {
    EXPECT_EQ(speakers_of(rows(row, kNames)), "anna ben anna ben") << row;
    EXPECT_THAT(conclusion_, HasSubstr("('anna', 'ben') is taken for the speaker")) << row;
  }
  EXPECT_EQ(speakers_of(rows("%|*|$", {"88", "7"})), "88 7 88 7");
  EXPECT_EQ(speakers_of(rows("%|$|*", {"0", "1"})), "0 1 0 1");
  EXPECT_EQ(speakers_of(rows("%|*|$", {"Anna Smith", "Ben"})), "Anna Smith Ben Anna Smith Ben");
}

TEST_F(Lists, ColumnsNameTheSpeakerInManyWays) {
  for (const char* name : {"speaker", "speaker_id", "speaker_name", "spk", "client_id", "Speaker ID", "SPEAKER-NAME",
                           "speakerId", "spk_id", "reader"}) {
    EXPECT_EQ(speakers_of("audio,text," + std::string(name) + "\n" + rows("wavs/%.wav,\"$\",*", {"7", "8"})),
              "7 8 7 8");
    EXPECT_EQ(speakers_of("id|" + std::string(name) + "|text\n" + rows("%|*|$", kNames)), "anna ben anna ben") << name;
    std::string json;
    for (int i = 0; i < 4; ++i)
      json += R"({"audio": "wavs/c)" + std::to_string(i) + R"(.wav", "text": ")" + kTexts[static_cast<std::size_t>(i)] +
              "\", \"" + name + "\": " + std::to_string(7 + i % 2) + "}\n";
    EXPECT_EQ(speakers_of(json, "list.jsonl"), "7 8 7 8") << name;
    EXPECT_THAT(conclusion_, IsEmpty());
  }
  EXPECT_EQ(speakers_of("path\tsentence\tclient_id\n" + rows("wavs/%.wav\t$\t*", {"3f", "a0"}), "list.tsv"),
            "3f a0 3f a0");
}

TEST_F(Lists, ColumnsThatNothingIsReadOfAreNamed) {
  EXPECT_THAT((*open("audio,text,Sprecher,up_votes\nwavs/c0.wav,one,anna,2\n"))->unread(),
              ElementsAre("Sprecher", "up_votes"));
  EXPECT_THAT((*open("audio,text,speaker\nwavs/c0.wav,one,anna\n"))->unread(), IsEmpty());
}

TEST_F(Lists, AThirdColumnWithoutWordsOfTheSecondIsNoText) {
  const std::vector<std::vector<std::string>> columns{{"hˈɪɹ ɑːɹ sˌʌm fˈoʊniːmz juː ʃˈʊd nˈoʊ"},
                                                      {"ðə fˈɜːst", "ænd ðə sˈɛkənd wˌʌn", "ðɛn", "ðə lˈæst wʌn"},
                                                      {"HH IY1 R", "AA1 R S AH1 M", "F OW1", "N IY2 M Z"},
                                                      {"00:00:03", "00:00:04", "00:00:05", "00:00:06"},
                                                      {"3.21", "4.02", "5.1", "6"},
                                                      {"3", "4", "5", "6"},
                                                      {"3000", "4000", "5000", "6000"},
                                                      {"3.2 s", "4.1 s"}};
  for (const auto& column : columns) {
    EXPECT_EQ(speakers_of(rows("%|$|*", column)), "   ") << column.front();
    EXPECT_EQ(conclusion_.empty(), column.front().find_first_not_of("0123456789.: s") == std::string::npos)
        << conclusion_;
  }
  EXPECT_EQ(speakers_of(rows("%|$|$|*", columns[3])), "   ");
  EXPECT_THAT(conclusion_, IsEmpty());
  speakers_of(rows("%|$|*", columns[0]));
  EXPECT_THAT(conclusion_, HasSubstr("its third column ('hˈɪɹ ɑːɹ"));
  EXPECT_THAT(conclusion_, HasSubstr("is no normalised text: it shares a word with the text in 0 of 4 rows"));
}

TEST_F(Lists, AThirdColumnWithWordsOfTheSecondIsTheText) {
  const auto text_of = [&](const std::string& list) { return lines(list).front().text; };
  EXPECT_EQ(text_of("c0|In 1455|In fourteen fifty-five\nc1|Dr. Who|doctor who\nc2|1455|fourteen fifty-five\n"),
            "In fourteen fifty-five");
  EXPECT_EQ(text_of("c0|3 5 0|three five zero\nc1|42|forty two\n"), "three five zero");
  EXPECT_EQ(text_of("c0|7|sieben\nc1|7|sieben\nc2|8|acht\n"), "sieben");
  EXPECT_EQ(text_of("c0|你好，世界！|你好世界\nc1|天气很好。|天气很好\n"), "你好世界");
  EXPECT_EQ(text_of("c0|Only this||\n"), "Only this");
  EXPECT_THAT(conclusion_, IsEmpty());
  EXPECT_EQ(text_of("id|transcription|normalised\nc0|42|fourty-two, by its name\n"), "fourty-two, by its name");
}

TEST_F(Lists, AThirdColumnInAQuarterOfTheRowsIsNoText) {
  for (const char* end : {"|", ""}) {  // with all of its bars, or with those that it needs
    for (const char* third : {"hˈɪɹ ɑːɹ sˌʌm fˈoʊniːmz", "check the word one", "00:00:03", "noisy"}) {
      std::string list;
      for (int i = 0; i < 16; ++i) {
        const std::string number = std::to_string(i % 4);
        list += "c" + number + "|this is the text number one of " + number +
                (i % 4 == 1 ? "|" + std::string(third) : end) + "\n";
      }
      for (const DatasetLine& line : lines(list)) {
        EXPECT_EQ(line.text, "this is the text number one of " + line.id.substr(1));
        EXPECT_EQ(line.speaker, "");
      }
      if (std::string(third).starts_with("check")) {
        EXPECT_THAT(conclusion_, HasSubstr("it shares a word with the text in 4 of 16 rows; the text is the second"));
      }
    }
  }
}

TEST_F(Lists, ABarWithinATextPartsNothing) {
  EXPECT_EQ(lines("c0|first | second\nc1|one\nc2|two\n").front().text, "first | second");
  EXPECT_EQ(lines("c0|anna|first | second one of all\nc1|ben|this is the one\nc2|anna|and this another\n").front().text,
            "first | second one of all");
  EXPECT_EQ(lines("c0|a | bar|a bar between two\nc1|Mr. Xi|mister xi\nc2|y z|y z\n").front().text, "a bar between two");
}

TEST_F(Lists, ColumnsThatMayBeEitherAreRefusedByName) {
  for (const char* list : {"c0|anna|this is the first text\nc1|ben|and this the second one\n",
                           "c0|yes|anna\nc1|no|anna\nc2|yes|ben\nc3|no|ben\n", "c0|7|anna\nc1|8|anna\nc2|7|ben\n"}) {
    const auto set = open(list);
    ASSERT_FALSE(set) << list;
    EXPECT_EQ(set.error().fault, Fault::usage);
    EXPECT_THAT(set.error().text(), HasSubstr("the second ('")) << list;
    EXPECT_THAT(set.error().text(), HasSubstr("Name the columns in a first line")) << list;
  }
}

TEST_F(Lists, LinesMayEndWithCrAlone) {
  for (const char* end : {"\r", "\r\n", "\n", "\r\r\n"}) {
    speakers_of(rows("%|$", {""}, end));
    speakers_of("audio,text" + std::string(end) + rows("wavs/%.wav,\"$\"", {""}, end));
    speakers_of("audio\ttext" + std::string(end) + rows("wavs/%.wav\t$", {""}, end), "list.tsv");
    speakers_of(rows(R"({"audio":"wavs/%.wav","text":"$"})", {""}, end), "list.jsonl");
  }
  speakers_of("c0|" + kTexts[0] + "\rc1|" + kTexts[1] + "\nc2|" + kTexts[2] + "\r\nc3|" + kTexts[3]);
}

TEST_F(Lists, EmptyLinesAndCommentsAreNoRows) {
  for (const char* above : {"\n", "\r\n", "  \n", "# made by hand\n", "# made by hand, on a Monday | or so\n", "#\n\n",
                            "// LJSpeech\n", "-- LJSpeech\n", "; LJSpeech, a part\n", "#made by hand, in 2020\n",
                            "\xEF\xBB\xBF\n", "\xEF\xBB\xBF# a comment\n", "sep=|\n", "||\n"})
    EXPECT_EQ(speakers_of(above + rows("%|$")), "   ") << above;
  speakers_of("# a comment\n\naudio,text\n" + rows("wavs/%.wav,\"$\""));
  speakers_of("sep=;\naudio;text\n" + rows("wavs/%.wav;$") + ";;\n;\n");
  speakers_of("# a comment\n" + rows(R"({"audio":"wavs/%.wav","text":"$"})"), "list.jsonl");
  EXPECT_EQ(speakers_of("# id | speaker | text\n" + rows("%|*|$", kNames)), "anna ben anna ben");
  EXPECT_EQ(speakers_of("#id|text|speaker\n" + rows("%|$|*", kNames)), "anna ben anna ben");
  const auto set = open("# a comment\nc0|one\n\nc9|gone\n");
  EXPECT_EQ((*set)->size(), 2);
  EXPECT_EQ((*set)->origin(1), (folder_ / "list.csv").string() + ":4");
}

TEST_F(Lists, PathsAreWrittenInManyWays) {
  const std::vector<std::string> spellings{"%",
                                           "%.wav",
                                           "./wavs/%.wav",
                                           "wavs/%.wav",
                                           "wavs/%",
                                           "wavs\\%.wav",
                                           ".\\wavs\\%.wav",
                                           " % ",
                                           "%.flac",
                                           (folder_ / "wavs/%.wav").string(),
                                           (folder_ / "wavs/%").string()};
  for (const auto& named : spellings) {
    speakers_of(rows(named + "|$"));
    speakers_of("audio,text\n" + rows(named + ",\"$\""));
    speakers_of("id,text\n" + rows(named + ",\"$\""));
    speakers_of("audio;text\n" + rows(named + ";$"));
    speakers_of("file|text|speaker\n" + rows(named + "|$|x"));
  }
  std::filesystem::create_directories(folder_ / "filelists");
  speakers_of(rows("wavs/%.wav|$"), "filelists/train.txt");
}

TEST_F(Lists, BlanksAroundBarsAreNoPartOfTheFields) {
  EXPECT_EQ(speakers_of(rows("% | $ ")), "   ");
  EXPECT_EQ(speakers_of(rows("% | * | $", kNames)), "anna ben anna ben");
  EXPECT_EQ(speakers_of("id | text | speaker\n" + rows("% | $ | *", kNames)), "anna ben anna ben");
  EXPECT_EQ(lines(rows("%| $")).front().text, " " + kTexts[0]) << "a blank of the text alone stays";
}

TEST_F(Lists, RowsWithoutNamesMayHaveTabsOrCommas) {
  EXPECT_EQ(speakers_of(rows("%.wav\t$"), "list.tsv"), "   ");
  EXPECT_EQ(speakers_of(rows("wavs/%.wav\t*\t$", kNames), "list.txt"), "anna ben anna ben");
  EXPECT_EQ(speakers_of(rows("%,\"$\"")), "   ");
  EXPECT_EQ(speakers_of(rows("$|wavs/%.wav")), "   ") << "Mozilla's order";
  const auto set = open("gone\tone\nlost\ttwo\n", "list.tsv");
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().what, HasSubstr("names no audio column, found 'gone', 'one'"));
}

TEST_F(Lists, Windows1252IsReadWithItsCharacters) {
  for (const auto& [bytes, text] : {std::pair("caf\xE9 cr\xE8me", "café crème"), {"it\x92s \x80 5", "it’s € 5"}}) {
    EXPECT_EQ(lines("c0|" + std::string(bytes) + "\nc1|plain\n").front().text, text);
    EXPECT_THAT(conclusion_, HasSubstr("line 1 is not UTF-8, so the list is read as Windows-1252"));
    EXPECT_EQ(lines("audio,text\nwavs/c0.wav,\"" + std::string(bytes) + "\"\n").front().text, text);
    EXPECT_EQ(lines(R"({"audio":"wavs/c0.wav","text":")" + std::string(bytes) + "\"}\n", "list.jsonl").front().text,
              text);
    EXPECT_EQ(
        lines("[{\"audio\":\"wavs/c0.wav\",\"text\":\"" + std::string(bytes) + "\"}]\n", "list.json").front().text,
        text);
  }
  EXPECT_EQ(lines("c0|Ren\xE9|this is a whole text\nc1|Zo\xEB|and this another\nc2|Zo\xEB|the third one\n")[1].speaker,
            "Zoë");
}

TEST_F(Lists, FilesAreFoundByTheBytesOfTheirNames) {
  write_wav(folder_ / "wavs/caf\xE9.wav", audio_of(1, 16000));
  EXPECT_EQ(lines("caf\xE9|text\n").front().audio, folder_ / "wavs/caf\xE9.wav");
  write_wav(folder_ / "wavs/th\xC3\xA9.wav", audio_of(1, 16000));
  EXPECT_EQ(lines("th\xE9|text\n").front().audio, folder_ / "wavs/th\xC3\xA9.wav");
}

TEST_F(Lists, OtherEncodingsAreRefusedByTheirLines) {
  const std::string cyrillic = "\xCF\xF0\xE8\xE2\xE5\xF2 \xEC\xE8\xF0";
  for (const auto& list : {"c0|plain text\nc1|" + cyrillic + "\n", std::string("c0|caf\xC3\xA9\nc1|caf\xE9\n"),
                           std::string("c0|plain\rc1|caf\x8E\r"), std::string("c0|plain\nc1|\x81\x8D\n")}) {
    const auto set = open(list);
    ASSERT_TRUE(set) << set.error().text();
    EXPECT_TRUE((*set)->at(0)) << list;
    const auto line = (*set)->at(1);
    ASSERT_FALSE(line) << list;
    EXPECT_THAT(line.error().text(), HasSubstr("list.csv:2: its text is not UTF-8: '"));
    EXPECT_EQ((*set)->origin(1), (folder_ / "list.csv").string() + ":2");
  }
}

TEST_F(Lists, SemicolonsPartTheFileFromTextsWithCommas) {
  const auto found = lines("wavs/c0.wav;one, two, three\nwavs/c1.wav;no comma here\nwavs/c2.wav;it was so; or, so\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].text, "one, two, three");
  EXPECT_EQ(found[1].text, "no comma here");
  EXPECT_EQ(found[2].text, "it was so; or, so");
}

TEST_F(Lists, BlanksAroundQuotesAreNoPartOfTheFields) {
  EXPECT_EQ(speakers_of("audio file, speaker ,text\n" + rows(" wavs/%.wav , * , \"$\"", kNames)), "anna ben anna ben");
}

TEST_F(Lists, TextsWithANulAreRefusedByTheirLines) {
  for (const std::string above : {"c0|plain\nc1|a te", "audio,text\nwavs/c0.wav,plain\nwavs/c1.wav,a te"}) {
    const auto set = open(above + '\0' + "xt\n");
    ASSERT_TRUE(set) << set.error().text();
    EXPECT_TRUE((*set)->at(0));
    const auto line = (*set)->at(1);
    ASSERT_FALSE(line);
    EXPECT_THAT(line.error().text(), HasSubstr("its text has a NUL in it, behind 'a te'"));
  }
}

TEST_F(Lists, Utf16IsReadWithItsMarkAndWithout) {
  const std::string plain = "audio\ttext\r\n" + rows("wavs/%.wav\t$", {""}, "\r\n");
  for (const bool little : {true, false})
    for (const bool marked : {true, false}) {
      std::string wide = !marked ? "" : little ? "\xFF\xFE" : "\xFE\xFF";
      for (const char c : plain) wide += little ? std::string{c, '\0'} : std::string{'\0', c};
      EXPECT_EQ(speakers_of(wide, "list.tsv"), "   ") << little << marked;
    }
}

TEST_F(Lists, WhatIsReadByItsContentHasItsOwnFingerprint) {
  const auto differs = [&](const std::string& list) {
    const auto set = open(list);
    return (*set)->fingerprint() != LineIndex::open(folder_ / "list.csv")->fingerprint();
  };
  EXPECT_TRUE(differs("c0|anna|this is a whole text\nc1|anna|and another\n"));
  EXPECT_TRUE(differs("c0|one\rc1|two\r"));
  EXPECT_FALSE(differs("c0|one|one\nc1|two|two\nc2|three\n"));
}

}  // namespace
}  // namespace tutti
