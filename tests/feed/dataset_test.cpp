#include "feed/source/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "feed/corpus.h"
#include "feed/source/line_index.h"
#include "support/test_data.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Layout : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    (void)write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  std::unique_ptr<Dataset> open(const std::string& split = "", const std::vector<std::string>& fields = {}) {
    auto set = open_dataset(folder_.path(), split, fields);
    if (!set) throw std::runtime_error(set.error().text());
    return std::move(*set);
  }
  TempFolder folder_;
};

TEST_F(Layout, LjSpeechIsSplitAtTheFirstAndTheLastBar) {
  write("metadata.csv", "id|text|normalised\na|In 1455|In fourteen fifty-five\r\nb|x|y|z\n\nc|only this\nd.wav|e|\n");
  for (const char* name : {"a.wav", "b.wav", "c.wav", "d.wav"}) write(std::string("wavs/") + name, "");
  const auto set = open();
  ASSERT_EQ(set->size(), 4);
  EXPECT_EQ(set->at(0)->text, "In fourteen fifty-five");
  EXPECT_EQ(set->at(0)->audio, folder_ / "wavs" / "a.wav");
  EXPECT_EQ(set->at(1)->text, "z");
  EXPECT_EQ(set->at(2)->text, "only this");
  EXPECT_EQ(set->at(3)->audio, folder_ / "wavs" / "d.wav");
  EXPECT_EQ(set->at(3)->text, "e") << "an empty normalised text leaves the text";
}

TEST_F(Layout, LjSpeechRecordingHasAnyKnownEnding) {
  for (const char* name : {"a.flac", "b.mp3", "b.txt", "c.FLAC", "d.wav", "d.flac", "e.v1.ogg", "f.flac", "g.m4a"})
    write(std::string("wavs/") + name, "");
  write("metadata.csv", "a|t\nb|t\nc|t\nd|t\ne.v1|t\nf.wav|t\ng.m4a|t\n");
  const auto set = open();
  ASSERT_EQ(set->size(), 7);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < set->size(); ++i) names.push_back(set->at(i)->audio.lexically_relative(folder_.path()));
  EXPECT_THAT(names, ElementsAre("wavs/a.flac", "wavs/b.mp3", "wavs/c.FLAC", "wavs/d.wav", "wavs/e.v1.ogg",
                                 "wavs/f.flac", "wavs/g.m4a"))
      << "WAV comes first; an ending in the id may have changed since";
}

TEST_F(Layout, LjSpeechLineWithoutRecordingIsCountedAsBad) {
  for (const int number : {0, 1, 2})
    write_wav(folder_ / ("wavs/s" + std::to_string(number) + ".wav"), audio_of(number, 16000));
  write("metadata.csv", "s0|zero\ns1|one\ngone|two\ns2|three\nlost.flac|four\n");
  FeedOptions options = options_for(folder_.path());
  options.bad_samples = folder_ / "bad.jsonl";
  Feed feed = opened(options);
  EXPECT_THAT(ids_of(drained(feed)), testing::UnorderedElementsAre("s0", "s1", "s2"));
  EXPECT_EQ(feed.report().bad_samples, 2);
  const std::string bad = read_file(folder_ / "bad.jsonl").value();
  EXPECT_THAT(bad, HasSubstr("wavs/gone: no recording of this name, with .wav, .flac or another known ending"));
  EXPECT_THAT(bad, HasSubstr("lost.flac"));
}

TEST_F(Layout, TrainAndEvalVariantsAreSplits) {
  write("metadata_train.csv", "a|t|t\nb|t|t\n");
  write("metadata_eval.csv", "c|t|t\n");
  write("wavs/c.wav", "");
  EXPECT_EQ(open("train")->size(), 2);
  EXPECT_EQ(open("validation")->at(0)->id, "c");
  EXPECT_EQ(open()->size(), 2);
}

TEST_F(Layout, RecordingsMatchTranscriptsUnderBothNamings) {
  for (const char* name : {"a.json", "a.wma", "b.mp3.json", "b.mp3", "b.wav", "report.json"})
    write(std::string("talks/") + name, "{}");
  const auto set = open();
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->at(0)->audio, folder_ / "talks/a.wma");
  EXPECT_EQ(set->at(0)->times, folder_ / "talks/a.json");
  EXPECT_EQ(set->at(1)->audio, folder_ / "talks/b.mp3");
  EXPECT_EQ(set->at(1)->times, folder_ / "talks/b.mp3.json");
}

TEST_F(Layout, ATimeInATableIsANumberOfSeconds) {
  write("metadata.csv", "audio,text,start\na.wav,one,1.5\nb.wav,two,inf\nc.wav,three,1.5s\nd.wav,four,-1\n");
  const auto set = open();
  EXPECT_EQ(set->at(0)->start, 1.5);
  for (const std::int64_t wrong : {1, 2, 3}) {
    const auto line = set->at(wrong);
    ASSERT_FALSE(line) << wrong;
    EXPECT_THAT(line.error().what, HasSubstr("start: expected seconds")) << wrong;
  }
}

TEST_F(Layout, MorseHasAudioSplitsFieldsAndTimes) {
  const std::string header = "id,audio_file,text,contest_type,sample_type,wpm,condition,duration\n";
  write("metadata.csv", header + "7,m7.wav,CQ TEST,CQWW,cq,20,good,3.5\n8,m8.wav,,NOISE,noise_only,0,clean,4\n");
  write("splits/train.csv", header + "7,m7.wav,CQ TEST,CQWW,cq,20,good,3.5\n");
  write("audio/m7.wav", "");
  write("transcripts/7.json", "{}");
  const auto set = open("train", {"condition", "wpm"});
  ASSERT_EQ(set->size(), 1);
  const auto line = *set->at(0);
  EXPECT_EQ(line.id, "7");
  EXPECT_EQ(line.audio, folder_ / "audio" / "m7.wav");
  EXPECT_EQ(line.duration, 3.5);
  EXPECT_EQ(line.times, folder_ / "transcripts" / "7.json");
  EXPECT_THAT(line.fields, ElementsAre("good", "20"));
  EXPECT_TRUE(open()->at(1)->is_noise);
  EXPECT_THAT(open_dataset(folder_.path(), "dev", {}).error().what, HasSubstr("no split 'dev'"));
  EXPECT_THAT(open_dataset(folder_.path(), "", {"mood"}).error().what, HasSubstr("no column 'mood'"));
}

TEST_F(Layout, ManifestsKnowTheirNamesForAudioTextAndTimes) {
  write("m.jsonl", R"({"audio_filepath":"x/a.wav","text":"hi \u00e4","offset":1.5,"duration":2})"
                   "\n"
                   R"({"id":"b","path":"/b.flac","sentence":"yes","start":0,"end":2.5})"
                   "\n{broken\n");
  const auto set = *open_dataset(folder_ / "m.jsonl", "", {});
  const auto first = *set->at(0);
  EXPECT_EQ(first.id, "m.jsonl:1");
  EXPECT_EQ(first.text, "hi \u00e4");
  EXPECT_EQ(first.audio, folder_ / "x" / "a.wav");
  EXPECT_EQ(first.start, 1.5);
  EXPECT_EQ(first.end, 3.5);
  EXPECT_EQ(set->at(1)->audio, "/b.flac");
  EXPECT_EQ(set->at(1)->end, 2.5);
  EXPECT_EQ(set->at(2).error().fault, Fault::corrupt);
  EXPECT_EQ(set->id(2), "m.jsonl:3");
}

TEST_F(Layout, ATablesOffsetAndDurationAreAStartAndAnEnd) {
  write("t.csv", "audio,text,offset,duration\na.wav,one,1.5,2\na.wav,two,,2.5\n");
  const auto set = *open_dataset(folder_ / "t.csv", "", {});
  EXPECT_EQ(set->at(0)->start, 1.5);
  EXPECT_EQ(set->at(0)->end, 3.5);
  EXPECT_EQ(set->at(0)->duration, std::nullopt);
  EXPECT_EQ(set->at(1)->end, std::nullopt);
  EXPECT_EQ(set->at(1)->duration, 2.5);
}

TEST_F(Layout, TablesMayQuoteCommasQuotesAndNewlines) {
  write("t.csv", "text,audio\n\"a, \"\"b\"\"\nc\",x.wav\nplain,y.wav\n");
  const auto set = *open_dataset(folder_ / "t.csv", "", {});
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->at(0)->text, "a, \"b\"\nc");
  EXPECT_EQ(set->at(1)->audio, folder_ / "y.wav");
  EXPECT_EQ(set->id(1), "t.csv:3");
}

TEST_F(Layout, AnInchMarkInAPlainFieldGluesNoLinesTogether) {
  write("t.csv", "audio,text\na.wav,5\" PIPE\nb.wav,plain\nc.wav,\"quoted\nx\"\nd.wav,\"a \"\"b\"\"\n\"\n");
  const auto set = *open_dataset(folder_ / "t.csv", "", {});
  ASSERT_EQ(set->size(), 4);
  EXPECT_EQ(set->at(0)->text, "5\" PIPE");
  EXPECT_EQ(set->at(1)->text, "plain");
  EXPECT_EQ(set->at(2)->text, "quoted\nx");
  EXPECT_EQ(set->at(3)->text, "a \"b\"\n");
}

TEST_F(Layout, UnclosedQuoteSwallowsNoLines) {
  write("t.csv",
        "audio,text\na.wav,\"Hello, he said\nb.wav,plain\nc.wav,\"quoted, and\nlong\"\nd.wav,he said \"no\"\ne.wav,\"\n"
        "f.wav,last\n");
  const auto set = *open_dataset(folder_ / "t.csv", "", {});
  ASSERT_EQ(set->size(), 6);
  EXPECT_EQ(set->at(0)->text, "\"Hello") << "what its comma separates is no part of it";
  EXPECT_EQ(set->at(1)->text, "plain");
  EXPECT_EQ(set->at(2)->text, "quoted, and\nlong");
  EXPECT_EQ(set->at(3)->text, "he said \"no\"");
  EXPECT_EQ(set->at(4)->text, "\"");
  EXPECT_EQ(set->at(5)->text, "last");
}

TEST_F(Layout, TablesOfOthersAreReadAsTheBatchReadsThem) {
  const std::string rows[] = {"filename,transcript\na.wav,one\n", "Audio;Text;Duration\na.wav;one;3,5\n",
                              "file_name\tsentence\na.wav\tone\n", "AUDIO_FILEPATH,Transcription\na.wav,one\n",
                              "audio_file|text|speaker_name\na.wav|one|ann\n"};
  for (const auto& text : rows) {
    const auto set = open_dataset(write("t.csv", text), "", {});
    ASSERT_TRUE(set) << text << set.error().text();
    ASSERT_EQ((*set)->size(), 1) << text;
    EXPECT_EQ((*set)->at(0)->audio, folder_ / "a.wav") << text;
    EXPECT_EQ((*set)->at(0)->text, "one") << text;
  }
  EXPECT_EQ((*open_dataset(write("t.csv", rows[1]), "", {}))->at(0)->duration, 3.5) << "a decimal comma";
}

TEST_F(Layout, ATableInUtf16IsRead) {
  const std::string_view plain = "audio\ttext\r\na.wav\t\"two\r\nlines\"\r\nb.wav\tone\r\n";
  std::string wide = "\xFE\xFF";
  for (const char c : plain) wide += std::string{'\0', c};
  const auto set = *open_dataset(write("t.tsv", wide), "", {});
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->at(0)->text, "two\r\nlines");
  EXPECT_EQ(set->at(1)->audio, folder_ / "b.wav");
}

TEST_F(Layout, HuggingFacesAudiofolderHasFileNamesAndSplitsInFolders) {
  write("metadata.csv", "file_name,transcription\ndata/0.wav,zero\n");
  EXPECT_EQ(open()->at(0)->audio, folder_ / "data/0.wav");
  EXPECT_EQ(open()->at(0)->text, "zero");
  std::filesystem::remove(folder_ / "metadata.csv");
  write("train/metadata.csv", "file_name,transcription\n1.wav,one\n2.wav,two\n");
  write("validation/metadata.jsonl", "{\"file_name\": \"3.wav\", \"transcription\": \"three\"}\n");
  EXPECT_EQ(open("train")->size(), 2);
  EXPECT_EQ(open("train")->at(1)->audio, folder_ / "train/2.wav");
  EXPECT_EQ(open("validation")->at(0)->audio, folder_ / "validation/3.wav");
  EXPECT_EQ(open("validation")->at(0)->text, "three");
  EXPECT_EQ(open()->size(), 2) << "what is trained on, where no split is named";
}

TEST_F(Layout, ATableOfAnotherNameIsNamedInTheError) {
  write("list.csv", "audio,text\na.wav,A\n");
  const auto opened = open_dataset(folder_.path(), "", {});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().hint, testing::HasSubstr("list.csv"));
  EXPECT_EQ((*open_dataset(folder_ / "list.csv", "", {}))->size(), 1);
}

TEST_F(Layout, CommonVoicesLayoutHasTablesForSplitsAndClips) {
  const std::string header = "client_id\tpath\tsentence\tup_votes\n";
  write("clips/a.mp3", "");
  write("train.tsv", header + "x\ta.mp3\tHe said \"no\".\t2\n");
  write("dev.tsv", header + "x\tb.mp3\tB\t2\n");
  write("test.tsv", header + "x\tc\tC\t2\n");
  write("validated.tsv", header + "x\ta.mp3\tA\t2\nx\tb.mp3\tB\t2\n");
  EXPECT_EQ(open("train")->at(0)->audio, folder_ / "clips/a.mp3");
  EXPECT_EQ(open("train")->at(0)->text, "He said \"no\".");
  EXPECT_EQ(open("validation")->at(0)->audio, folder_ / "clips/b.mp3");
  EXPECT_EQ(open("test")->at(0)->audio, folder_ / "clips/c.mp3") << "as its first versions name them";
  EXPECT_EQ(open()->size(), 2);
  EXPECT_EQ((*open_dataset(folder_ / "dev.tsv", "", {}))->at(0)->audio, folder_ / "clips/b.mp3");
}

TEST_F(Layout, AListOfObjectsInJsonIsASet) {
  const std::string object = R"({"Audio": "a.wav", "text": "one", "start": 1, "end": 2.5})";
  for (const std::string& text :
       {"[" + object + ",\n " + object + "]", R"({"count": 2, "assets": [)" + object + "," + object + "]}",
        "{\n \"data\": [" + object + ",\n" + object + "]\n}", object + "\n" + object + "\n"}) {
    const auto set = open_dataset(write("m.json", text), "", {});
    ASSERT_TRUE(set) << text << set.error().text();
    ASSERT_EQ((*set)->size(), 2) << text;
    EXPECT_EQ((*set)->at(1)->audio, folder_ / "a.wav") << text;
    EXPECT_EQ((*set)->at(1)->end, 2.5) << text;
  }
  write("m.json", R"([{"audio": {"path": "b.wav", "sampling_rate": 16000}, "text": "x"}])");
  EXPECT_EQ((*open_dataset(folder_ / "m.json", "", {}))->at(0)->audio, folder_ / "b.wav") << "as Hugging Face has it";
}

TEST_F(Layout, NamesThatAreNotUtf8AreKept) {
  write("m.jsonl", "{\"audio\": \"caf\\udce9.wav\", \"text\": \"x\"}\n{\"audio\": \"caf\xE9.wav\", \"text\": \"x\"}\n");
  const auto set = *open_dataset(folder_ / "m.jsonl", "", {});
  EXPECT_EQ(set->at(0)->audio, folder_ / "caf\xE9.wav");
  EXPECT_EQ(set->at(1)->audio, folder_ / "caf\xE9.wav");
}

TEST_F(Layout, AnErrorNamesTheColumnsThatWereFound) {
  write("x.csv", "sound;Sprecher\n1;2\n");
  EXPECT_THAT(open_dataset(folder_ / "x.csv", "", {}).error().what,
              HasSubstr("names no audio column, found 'sound', 'Sprecher'"));
  write("x.jsonl", "{\"sound\": \"a.wav\", \"text\": \"x\"}\n");
  EXPECT_THAT((*open_dataset(folder_ / "x.jsonl", "", {}))->at(0).error().what,
              HasSubstr("names no audio file, found 'sound', 'text'"));
}

TEST_F(Layout, InvalidSetErrorStatesWhatWasExpected) {
  EXPECT_THAT(open_dataset(folder_ / "nowhere", "", {}).error().what, HasSubstr("no such file"));
  EXPECT_THAT(open_dataset(folder_.path(), "", {}).error().what, HasSubstr("metadata.csv"));
  write("x.csv", "a,b\n1,2\n");
  EXPECT_THAT(open_dataset(folder_ / "x.csv", "", {}).error().what, HasSubstr("names no audio column"));
  write("x.csv", "s\xE9n,text\n");
  EXPECT_THAT(open_dataset(folder_ / "x.csv", "", {}).error().text(), HasSubstr("found 'sén', 'text'"));
  write("x.csv", std::string(100'000, 'x'));
  EXPECT_LT(open_dataset(folder_ / "x.csv", "", {}).error().what.size(), 500U) << "it may be anything but a table";
}

TEST_F(Layout, EveryLineOfAnIndexIsFoundWhereItIs) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "line " + std::to_string(i) + (i % 3 == 0 ? "\r\n" : "\n") + (i % 50 == 0 ? "\n" : "");
  const auto lines = LineIndex::open(write("lines", text));
  ASSERT_EQ(lines->size(), 1000);
  for (int i = 999; i >= 0; --i) ASSERT_EQ(lines->line(i), "line " + std::to_string(i));
}

TEST_F(Layout, AMillionLinesGiveTheirFirstBatchWithoutBeingRead) {
  constexpr int kBroken = 10'000;  // one in a hundred: each is a bad sample as soon as it is read
  std::string lines;
  for (int i = 0; i < 100 * kBroken; ++i)
    lines += i % 100 == 50 ? "{\"id\":\"n" + std::to_string(i) + "\",\"audio\":\n"
                           : "{\"id\":\"n" + std::to_string(i) +
                                 "\",\"audio\":\"s0.wav\",\"text\":\"some words of usual length\",\"duration\":1.0}\n";
  write_wav(folder_ / "s0.wav", audio_of(0, 16000));
  Feed feed = opened(options_for(write("big.jsonl", lines)));
  ASSERT_EQ((*feed.next())->size(), 4);
  EXPECT_LT(feed.report().bad_samples, kBroken / 10) << "a tenth of all lines is far more than lies ahead of a batch";
  EXPECT_EQ(feed.samples_per_epoch(), 100 * kBroken);
}

TEST(RealSets, LjSpeechAndHiFiTtsAreReadWhole) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  for (const auto& [name, list] : {std::pair("speech/ljspeech", "metadata.csv"),
                                   {"speech/lj", "metadata.csv"},
                                   {"speech/hifitts", "manifest.jsonl"}}) {
    if (!std::filesystem::exists(test_data() / name)) continue;  // the project's own copy has one set
    const std::string lines = read_file(test_data() / name / list).value();
    FeedOptions options;
    options.data = test_data() / name;
    Feed feed = opened(options);
    const auto batches = drained(feed);
    EXPECT_EQ(feed.samples_per_epoch(), std::ranges::count(lines, '\n')) << name;
    EXPECT_EQ(std::ssize(ids_of(batches)), feed.samples_per_epoch()) << name;
    EXPECT_EQ(feed.report().bad_samples, 0);
  }
}

TEST(RealSets, DamagedFilesAreReportedNotReadShort) {
  TUTTI_NEEDS("damaged");
  const TempFolder folder;
  std::string lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test_data() / "damaged"))
    if (entry.is_regular_file()) lines += "{\"audio\":\"" + entry.path().string() + "\",\"text\":\"x\"}\n";
  (void)write_file_atomically(folder / "set.jsonl", lines);
  FeedOptions options = options_for(folder / "set.jsonl");
  options.bad_limits.share = 1;
  Feed feed = opened(options);
  const auto good = std::ssize(ids_of(drained(feed)));
  EXPECT_EQ(good + feed.report().bad_samples, feed.samples_per_epoch());
  EXPECT_GT(feed.report().bad_samples, 0);
}

TEST(Separated, FieldsKeepTheirQuotesOnlyWhereTheyBelong) {
  EXPECT_THAT(separated_fields(R"(a,"b ""c"", d",e"f,)", ','), ElementsAre("a", R"(b "c", d)", R"(e"f)", ""));
  EXPECT_THAT(separated_fields("a\tb,c", '\t'), ElementsAre("a", "b,c"));
  EXPECT_THAT(separated_fields(R"("Yes, yes," she said,b)", ','), ElementsAre("Yes, yes, she said", "b"));
  EXPECT_THAT(separated_fields(R"("a,b)", ','), ElementsAre("\"a", "b"));
  EXPECT_THAT(separated_fields(R"( x , "a, b" , "c ""d""",e)", ','), ElementsAre(" x ", "a, b", R"(c "d")", "e"));
  EXPECT_THAT(separated_fields(R"(a, "Yes, yes," it was)", ','), ElementsAre("a", R"( "Yes)", " yes", "\" it was"));
}

TEST(Separated, ALineEndsWhereItsFieldsDo) {
  EXPECT_EQ(separated_line_end("a\"b\nc\"", 0, ','), 3U) << "a quote within a plain field quotes nothing";
  EXPECT_EQ(separated_line_end("\"a\nb\"\nc", 0, ','), 5U);
  EXPECT_EQ(separated_line_end("a,\"\"\nb,\"\"", 0, ','), 4U) << "an empty quoted field";
  EXPECT_EQ(separated_line_end("\"a\"\"\nb\"\nc", 0, ','), 7U) << "a doubled quote";
  EXPECT_EQ(separated_line_end("a,\"b\nc", 0, '\t'), 4U) << "a comma separates nothing where tabs do";
  EXPECT_EQ(separated_line_end("x\nab", 2, ','), 4U);
  EXPECT_EQ(separated_line_end("a, \"b\nc\" ,d\ne", 0, ','), 11U) << "blanks are around the quotes";
  EXPECT_EQ(separated_line_end("a,\"b\nc,d", 0, ','), 4U) << "the quote is never closed";
  EXPECT_EQ(separated_line_end("a,\"b\nc,\"d\"\n", 0, ','), 4U) << "it is another field's";
}

}  // namespace
}  // namespace tutti
