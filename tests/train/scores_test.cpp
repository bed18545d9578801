#include "train/evaluation/scores.h"

#include <gtest/gtest.h>

#include "train/evaluation/character_pairs.h"
#include "train/evaluation/html_report.h"

namespace tutti {
namespace {

const std::vector<SampleResult> kSamples{{"1", "good", "one two", "one two"},
                                         {"2", "poor", "three four", "three for"},
                                         {"3", "poor", "", ""},
                                         {"4", "poor", "", "five"}};

TEST(Scores, PoolsWordsAndScoresSilenceSeparately) {
  const auto e = score_samples(kSamples, "none");
  EXPECT_DOUBLE_EQ(e.wer, 0.25);
  EXPECT_DOUBLE_EQ(e.cer, 1.0 / 17);
  EXPECT_DOUBLE_EQ(e.noise_accuracy, 0.5);
  EXPECT_EQ(e.samples, 4);
  EXPECT_DOUBLE_EQ(e.per_condition.at("good").wer, 0);
  EXPECT_DOUBLE_EQ(e.per_condition.at("poor").wer, 0.5);
  EXPECT_EQ(e.per_condition.at("poor").samples, 3) << "with what holds no text: all conditions together are the set";
  EXPECT_EQ(e.per_condition.at("good").samples, 1);
  EXPECT_DOUBLE_EQ(e.per_condition.at("poor").noise_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(e.per_condition.at("good").noise_accuracy, 1);
}

TEST(Scores, TheNormaliserDecidesWhatCounts) {
  const std::vector<SampleResult> loud{{"1", "", " One, TWO!", "one two "}};
  EXPECT_EQ(score_samples(loud, "basic").wer, 0);
  EXPECT_EQ(score_samples(loud, "none").wer, 1);
}

TEST(Scores, AnEmptySetHasNoErrors) {
  EXPECT_EQ(evaluation_json(score_samples({}, "none")),
            R"({"wer":0.0,"cer":0.0,"noise_accuracy":1.0,"samples":0,"noise_samples":0,"bad_samples":0,)"
            R"("per_condition":{}})");
}

TEST(Scores, OmitsSilenceOrWordsWithoutSamples) {
  const auto e = score_samples(kSamples, "none");
  EXPECT_EQ(rates_text(rates_of(e)), "WER 25.00 %, CER 5.88 %, silence recognised as silence 50.0 %, 4 samples");
  EXPECT_EQ(rates_text(e.per_condition.at("good")), "WER 0.00 %, CER 0.00 %, 1 samples");
  EXPECT_EQ(rates_text(rates_of(score_samples({{"1", "", "", ""}}, "none"))),
            "silence recognised as silence 100.0 %, 1 samples");
  EXPECT_NE(evaluation_json(e).find(R"("samples":4,"noise_samples":2)"), std::string::npos) << evaluation_json(e);
  const auto page = evaluation_html(e, kSamples, "none");
  EXPECT_NE(page.find("<td>good</td><td class=\"n\">0.00 %</td><td class=\"n\">0.00 %</td><td class=\"n\">–</td>"),
            std::string::npos)
      << page;
}

TEST(Scores, NamesTheComputeType) {
  auto score = score_samples(kSamples, "none");
  score.compute_type = "int8";
  EXPECT_NE(evaluation_json(score).find(R"("compute_type":"int8")"), std::string::npos);
  EXPECT_NE(evaluation_html(score, kSamples, "none").find("computed in int8"), std::string::npos);
}

TEST(Scores, SetWithoutUsableSamplesIsAnError) {
  const auto nothing = score_set({}, 7, "none");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().fault, Fault::corrupt);
  EXPECT_NE(nothing.error().what.find("7 samples"), std::string::npos) << nothing.error().what;
  EXPECT_EQ(score_set(kSamples, 7, "none").value().bad_samples, 7);
}

TEST(Scores, NamesTheReasonOfTheLastBadSample) {
  EXPECT_EQ(bad_text({}), "");
  EXPECT_EQ(bad_text({.bad_samples = 2}), "2 more could not be used");
  EXPECT_EQ(bad_text({.bad_samples = 2, .last_bad = "s1: the file is empty"}),
            "2 more could not be used; the last one, s1: the file is empty");
}

TEST(Scores, NonUtf8ConditionIsShownWithReplacement) {
  const auto json = evaluation_json(score_samples({{"1", "b\xff", "a", "a"}}, "none"));
  EXPECT_NE(json.find("b\xef\xbf\xbd"), std::string::npos) << json;
}

TEST(CharacterPairs, ListSubstitutedCharacters) {
  using Pairs = std::vector<CharacterPair>;
  EXPECT_EQ(differing_characters("abc", "abc"), Pairs{});
  EXPECT_EQ(differing_characters("abc", "axc"), (Pairs{{U'b', U'x'}}));
  EXPECT_EQ(differing_characters("abc", "ac"), (Pairs{{U'b', 0}}));
  EXPECT_EQ(differing_characters("", "é"), (Pairs{{0, U'é'}}));
}

TEST(EvaluationPage, ShowsSilenceAccuracyPerCondition) {
  const auto page = evaluation_html(score_samples(kSamples, "none"), kSamples, "none");
  const auto cell = [](const std::string& text) { return "<td class=\"n\">" + text + "</td>"; };
  EXPECT_NE(page.find("<td>poor</td>" + cell("50.00 %") + cell("10.00 %") + cell("50.00 %") + cell("3")),
            std::string::npos)
      << page;
}

TEST(EvaluationPage, PlaysTheWorstSamplesFromWhereTheyLie) {
  const SampleResult sample{
      .id = "1", .reference = "a", .hypothesis = "b", .audio = "/set/x y.wav", .start = 2, .end = 3.5};
  const auto page = evaluation_html(score_samples({sample}, "none"), {sample}, "none");
  EXPECT_NE(page.find("src=\"file:///set/x%20y.wav#t=2.0,3.5\""), std::string::npos) << page;
}

TEST(EvaluationPage, ShowsOnlyCharactersThatCountAsErrors) {
  const std::vector<SampleResult> samples{{"1", "", "One, TWO!", "one twa"}};
  const auto page = evaluation_html(score_samples(samples, "basic"), samples, "basic");
  EXPECT_NE(page.find("<td>o</td><td>a</td>"), std::string::npos) << page;
  EXPECT_EQ(page.find("<td>O</td>"), std::string::npos) << "the normaliser makes it small";
}

TEST(EvaluationPage, ShowsWorstSamplesAndEscapesTheirTexts) {
  const auto page = evaluation_html(score_samples({{"1", "", "a", "<b>"}}, "none"), {{"1", "", "a", "<b>"}}, "none");
  EXPECT_NE(page.find("&lt;b&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace tutti
