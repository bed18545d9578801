#include "feed/stages/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "feed/corpus.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Segment output(double start, double end, const std::string& text) {
  Segment segment;
  segment.start = start;
  segment.end = end;
  segment.text = " " + text;
  return segment;
}

std::vector<std::string> texts(const std::vector<Piece>& pieces) {
  std::vector<std::string> all;
  for (const Piece& piece : pieces) all.push_back(piece.text);
  return all;
}

TEST(CutPieces, CutsBetweenSegmentsInTheMiddleOfTheSilence) {
  const Transcript transcript{"", {output(0.5, 8, "one"), output(9, 16, "two"), output(17, 24, "three")}, "en"};
  const auto pieces = cut_pieces(transcript, 25, 20);
  ASSERT_TRUE(pieces);
  EXPECT_THAT(texts(*pieces), ElementsAre("one two", "three"));
  EXPECT_DOUBLE_EQ(pieces->at(0).end, 16.5);
  EXPECT_DOUBLE_EQ(pieces->at(1).start, 16.5);
  EXPECT_DOUBLE_EQ(pieces->at(1).end, 25);
  EXPECT_FALSE(pieces->at(0).cut_start);
  EXPECT_TRUE(pieces->at(0).cut_end);
}

TEST(CutPieces, NoPieceIsLongerThanTheWindowAndNoTextIsLostOrDoubled) {
  Transcript transcript;
  CounterRandom random(5);
  double at = 0;
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const double start = at + random.uniform(0, 12), end = start + random.uniform(0.3, 9);
    transcript.segments.push_back(output(start, end, "w" + std::to_string(i)));
    expected += " w" + std::to_string(i);
    at = end;
  }
  const auto pieces = cut_pieces(transcript, at + 5, 10);
  ASSERT_TRUE(pieces);
  std::string joined;
  double before = 0;
  for (const Piece& piece : *pieces) {
    joined += " " + piece.text;
    EXPECT_GE(piece.start, before);
    EXPECT_LE(piece.end - piece.start, 10 - 2 * kCutSearch + 1e-9);
    for (const TimedText& text : piece.times) {
      EXPECT_GE(text.start, piece.start - 1e-9);
      EXPECT_LE(text.end, piece.end + 1e-9);
    }
    before = piece.end;
  }
  EXPECT_EQ(joined, expected);
}

/// A minute of words, one a second.
Transcript counted() {
  Transcript transcript;
  for (int i = 0; i < 60; ++i) transcript.segments.push_back(output(i + 0.2, i + 0.8, std::to_string(i)));
  return transcript;
}

TEST(CutPieces, SlidingPiecesOverlapByHalfAndTextMatchesAudio) {
  const auto pieces = cut_pieces(counted(), 60, 10, {.chunking = Chunking::sliding});
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->at(0).text, "0 1 2 3 4 5 6 7 8");
  EXPECT_EQ(pieces->at(1).text, "5 6 7 8 9 10 11 12 13");
  for (const Piece& piece : *pieces) {
    EXPECT_LE(piece.end - piece.start, 10 - 2 * kCutSearch + 1e-9);
    EXPECT_LE(piece.start, piece.times.front().start);
    EXPECT_GE(piece.start, piece.times.front().start - 0.2 - 1e-9) << "the word before is not in it";
    EXPECT_GE(piece.end, piece.times.back().end);
  }
  EXPECT_TRUE(pieces->back().text.ends_with("59"));
}

TEST(CutPieces, RandomPiecesFollowTheirKeyAndLoseNothing) {
  const auto pieces_of = [](std::uint64_t key) {
    return texts(*cut_pieces(counted(), 60, 10, {.chunking = Chunking::random, .key = key}));
  };
  const auto joined = [](const std::vector<std::string>& all) {
    std::string text;
    for (const auto& one : all) text += one + " ";
    return text;
  };
  EXPECT_EQ(pieces_of(1), pieces_of(1));
  EXPECT_NE(pieces_of(1), pieces_of(2));
  EXPECT_EQ(joined(pieces_of(1)), joined(texts(*cut_pieces(counted(), 60, 10))));
}

TEST(CutPieces, ASegmentThatIsTooLongIsCutBetweenItsWordsOrRefused) {
  Segment segment = output(0, 18, "a b c d e f");
  const Transcript without{"", {segment}, "en"};
  EXPECT_THAT(cut_pieces(without, 18, 10).error().what, HasSubstr("longer than"));
  for (int i = 0; i < 6; ++i)
    segment.words.push_back({std::string(" ") + static_cast<char>('a' + i), 3.0 * i, 3.0 * i + 2, 1});
  EXPECT_THAT(texts(*cut_pieces({"", {segment}, "en"}, 18, 10)), ElementsAre("a b c", "d e f"));
}

TEST(CutPieces, TextBeyondTheEndOfTheRecordingIsRefused) {
  EXPECT_FALSE(cut_pieces({"", {output(0, 5, "a"), output(40, 45, "b")}, "en"}, 20, 10));
}

TEST(CutPieces, OverlappingTextsAreRefused) {
  const auto cut = [](double start) {
    return cut_pieces({"", {output(0, 8, "a"), output(12, 18, "b"), output(start, 19, "c"), output(20, 25, "d")}, "en"},
                      25, 10);
  };
  EXPECT_THAT(texts(*cut(17.5)), ElementsAre("a", "b c", "d")) << "times are rounded";
  const auto behind = cut(11);
  ASSERT_FALSE(behind) << "the sound of one would be in the piece of another";
  EXPECT_THAT(behind.error().text(), HasSubstr("text at 11.00 s behind text that lasts until 18.00 s"));
}

TEST(CutPieces, WordLongerThanTheWindowIsRefusedInsteadOfCut) {
  Segment segment = output(0, 18, "a b");
  segment.words = {{" a", 0, 2, 1}, {" b", 2, 18, 1}};
  const auto pieces = cut_pieces({"", {segment}, "en"}, 18, 10);
  ASSERT_FALSE(pieces);
  EXPECT_THAT(pieces.error().what, HasSubstr("one word from 2.00 s to 18.00 s"));
}

TEST(Quietest, IsFoundWhereItIs) {
  auto pcm = audio_of(1, 8000);
  std::fill(pcm.begin() + 5000, pcm.begin() + 5400, std::int16_t{3});
  EXPECT_NEAR(static_cast<double>(quietest(pcm, 0, 8000)), 5200, 80);
}

/// A recording of 9 s with a transcript, and a short one, for a model with a window of 4 s.
class LongRecording : public testing::Test {
 protected:
  LongRecording() {
    auto pcm = audio_of(0, 9 * 16000);
    for (const int pause : {3, 6}) std::fill_n(pcm.begin() + pause * 16000 - 1600, 3200, std::int16_t{0});
    write_wav(folder_ / "long.wav", pcm);
    const Transcript transcript{" a b c", {output(0.2, 2.9, "a"), output(3.1, 5.9, "b"), output(6.1, 8.9, "c")}, "en"};
    (void)write_file_atomically(folder_ / "long.json", transcript_json(transcript));
    write_wav(folder_ / "short.wav", audio_of(1, 2 * 16000));
    (void)write_file_atomically(folder_ / "short.json", transcript_json({" hello", {output(0.1, 1.8, "hello")}, "en"}));
    options_ = options_for(folder_.path());
    options_.window = Seconds(4);
    options_.shuffle = false;
    options_.look_ahead = 1;
  }

  TempFolder folder_;
  FeedOptions options_;
};

TEST_F(LongRecording, BecomesPiecesWithTheirOwnText) {
  const auto batches = all_batches(options_);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_THAT(ids_of(batches), ElementsAre("long#1", "long#2", "long#3", "short"));
  for (const Batch& batch : batches)
    for (const BatchSample& sample : batch.samples)
      EXPECT_EQ(sample.begins, sample.id == "long#1" || sample.id == "short") << sample.id;
  std::vector<std::string> output;
  std::int64_t frames = 0;
  for (const BatchSample& sample : batches[0].samples) {
    output.push_back(sample.text);
    EXPECT_LE(sample.frames, 400);
    frames += sample.frames;
  }
  EXPECT_THAT(output, ElementsAre("a", "b", "c", "hello"));
  EXPECT_NEAR(static_cast<double>(frames), 1100, 6) << "all of the sound, once";
}

// As docs/feed.md has it; words with the spaces of a transcript, and words alone.
TEST_F(LongRecording, IsCutBetweenTheWordsOfItsLine) {
  const auto line = [](const std::string& space) {
    const auto word = [&](const std::string& text, double start) {
      return nlohmann::json{{"word", text}, {"start", start}, {"end", start + 1.2}};
    };
    return nlohmann::json{{"id", "long"},
                          {"audio", "long.wav"},
                          {"text", "a b c d e f"},
                          {"words",
                           {word("a", 0.2), word(space + "b", 1.6), word(space + "c", 3.2), word(space + "d", 4.6),
                            word(space + "e", 6.2), word(space + "f", 7.6)}}}
               .dump() +
           "\n";
  };
  options_.data = folder_ / "set.jsonl";
  options_.times = true;
  for (const char* space : {" ", ""}) {
    ASSERT_TRUE(write_file_atomically(options_.data, line(space)));
    const auto batches = all_batches(options_);
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_THAT(ids_of(batches), ElementsAre("long#1", "long#2", "long#3"));
    std::vector<std::string> output;
    for (const BatchSample& sample : batches[0].samples) output.push_back(sample.text);
    EXPECT_THAT(output, ElementsAre("a b", "c d", "e f"));
    ASSERT_EQ(batches[0].samples[1].words.size(), 2U);
    EXPECT_NEAR(batches[0].samples[1].words[1].end - batches[0].samples[1].words[0].start, 2.6, 1e-6);
  }
}

TEST_F(LongRecording, WhoseTextContradictsItsWordsIsABadSample) {
  const auto line = [](const std::string& text) {
    nlohmann::json object{{"id", "long"}, {"audio", "long.wav"}, {"text", text}, {"words", nlohmann::json::array()}};
    for (const char* word : {"alpha", "beta", "Gamma,", "delta", "epsilon", "zeta"}) {
      const double start = 0.2 + 1.5 * static_cast<double>(object["words"].size());
      object["words"].push_back({{"word", word}, {"start", start}, {"end", start + 1.2}});
    }
    return object.dump() + "\n";
  };
  options_.data = folder_ / "set.jsonl";
  options_.bad_samples = folder_ / "bad.jsonl";
  for (const char* text : {"Alpha beta, gamma delta epsilon zeta!", "alpha beta gamma delta epsilon zita"}) {
    ASSERT_TRUE(write_file_atomically(options_.data, line(text)));
    EXPECT_THAT(ids_of(all_batches(options_)), ElementsAre("long#1", "long#2", "long#3")) << text;
  }
  ASSERT_TRUE(write_file_atomically(options_.data, line("quite another text of another recording") +
                                                       R"({"id":"short","audio":"short.wav","text":"hello"})"
                                                       "\n"));
  EXPECT_THAT(ids_of(all_batches(options_)), ElementsAre("short"));
  EXPECT_THAT(read_file(options_.bad_samples).value(),
              AllOf(HasSubstr("its text ('quite another"), HasSubstr("contradicts the words")));
}

TEST_F(LongRecording, ItsLastPieceMayEndWithARoundedDuration) {
  (void)write_file_atomically(folder_ / "metadata.csv", "id,audio_file,text,duration\nlong,long.wav,,9.5\n");
  std::filesystem::create_directories(folder_ / "audio");
  std::filesystem::create_directories(folder_ / "transcripts");
  std::filesystem::rename(folder_ / "long.wav", folder_ / "audio" / "long.wav");
  std::filesystem::rename(folder_ / "long.json", folder_ / "transcripts" / "long.json");
  EXPECT_THAT(ids_of(all_batches(options_)), ElementsAre("long#1", "long#2", "long#3"));
}

TEST_F(LongRecording, IsABadSampleWhereItMustNotBeCut) {
  options_.chunking = Chunking::refused;
  options_.bad_samples = folder_ / "bad.jsonl";
  EXPECT_THAT(ids_of(all_batches(options_)), ElementsAre("short"));
  EXPECT_THAT(read_file(options_.bad_samples).value(), HasSubstr("use-chunking"));
}

TEST_F(LongRecording, RandomPiecesAreOthersInEveryEpochAndTheSameAfterAResume) {
  Transcript transcript;
  for (int i = 0; i < 18; ++i)
    transcript.segments.push_back(output(i / 2.0 + 0.05, i / 2.0 + 0.45, "w" + std::to_string(i)));
  ASSERT_TRUE(write_file_atomically(folder_ / "long.json", transcript_json(transcript)));
  options_.chunking = Chunking::random;
  options_.epochs = 4;
  const auto whole = all_batches(options_);
  std::vector<std::vector<std::string>> output(4);
  for (const Batch& batch : whole)
    for (const BatchSample& sample : batch.samples)
      output[static_cast<std::size_t>(batch.epoch)].push_back(sample.text);
  EXPECT_FALSE(output[0] == output[1] && output[1] == output[2] && output[2] == output[3]);
  options_.resume = whole[1].position;
  EXPECT_EQ(digest_of(all_batches(options_)[0]), digest_of(whole[2]));
}

TEST_F(LongRecording, PiecesGoOnAfterAResumeInTheMiddleOfThem) {
  options_.batch_size = 2;
  const auto whole = all_batches(options_);
  options_.resume = whole[0].position;
  EXPECT_EQ(digest_of(all_batches(options_)[0]), digest_of(whole[1]));
}

TEST_F(LongRecording, TimesAreThoseOfThePiece) {
  options_.times = true;
  const auto batches = all_batches(options_);
  const auto& second = batches[0].samples[1].times;
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NEAR(second[0].start, 0.1, 0.15);
  EXPECT_NEAR(second[0].end - second[0].start, 2.8, 1e-6);
  EXPECT_EQ(batches[0].samples[3].times.at(0).text, "hello");
}

}  // namespace
}  // namespace tutti
