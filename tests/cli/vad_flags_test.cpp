#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "cli/flags/speech_flags.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

Result<std::optional<VadOptions>> options_of(const std::vector<std::string>& arguments,
                                             const std::vector<double>& clips = {0}) {
  VadFlags flags;
  OptionTable table("features", "Test.");
  add_vad(table, flags);
  if (const auto action = table.read(arguments, {}); !action) return tl::unexpected(action.error());
  return vad_options(flags, clips);
}

std::string refused(const std::vector<std::string>& arguments, const std::vector<double>& clips = {0}) {
  const auto options = options_of(arguments, clips);
  return options ? "" : options.error().text();
}

}  // namespace

TEST(VadFlags, WithoutVadFlagThereAreNoVadOptions) {
  const auto options = options_of({});
  ASSERT_TRUE(options);
  EXPECT_FALSE(*options);
}

// vad.py, VadOptions; transcribe.py, BatchedInferencePipeline.transcribe.
TEST(VadFlags, TheDefaultsAreFasterWhispersOfEitherWay) {
  for (const std::string way : {"--vad", "--vad_filter", "--batched"}) {
    const auto options = options_of({way});
    ASSERT_TRUE(options) << options.error().text();
    ASSERT_TRUE(*options);
    EXPECT_EQ((*options)->method, VadMethod::silero);
    EXPECT_EQ((*options)->threshold, 0.5);
    EXPECT_EQ((*options)->neg_threshold, std::nullopt);
    EXPECT_EQ((*options)->min_speech_duration_ms, 0);
    EXPECT_EQ((*options)->max_speech_duration_s, std::numeric_limits<double>::infinity());
    EXPECT_EQ((*options)->min_silence_duration_ms, way == "--batched" ? 160 : 2000);
    EXPECT_EQ((*options)->speech_pad_ms, 400);
  }
}

TEST(VadFlags, EveryOneOfThemReachesTheOptions) {
  const auto options = options_of({"--vad", "--vad_method", "energy", "--vad_threshold", "0.6", "--vad_neg_threshold",
                                   "0.2", "--vad_min_speech_duration_ms", "250", "--vad_max_speech_duration_s", "20",
                                   "--vad_min_silence_duration_ms", "700", "--vad_speech_pad_ms", "30"});
  ASSERT_TRUE(options) << options.error().text();
  ASSERT_TRUE(*options);
  EXPECT_EQ((*options)->method, VadMethod::energy);
  EXPECT_EQ((*options)->threshold, 0.6);
  EXPECT_EQ((*options)->neg_threshold, 0.2);
  EXPECT_EQ((*options)->min_speech_duration_ms, 250);
  EXPECT_EQ((*options)->max_speech_duration_s, 20);
  EXPECT_EQ((*options)->min_silence_duration_ms, 700);
  EXPECT_EQ((*options)->speech_pad_ms, 30);
}

TEST(VadFlags, OneWithoutVadIsRefusedAndNamed) {
  for (const auto& [flag, value] :
       {std::pair("--vad-threshold", "0.6"), std::pair("--vad-neg-threshold", "0.2"),
        std::pair("--vad-min-speech-duration-ms", "1"), std::pair("--vad-max-speech-duration-s", "20"),
        std::pair("--vad-min-silence-duration-ms", "1"), std::pair("--vad-speech-pad-ms", "1"),
        std::pair("--vad-method", "energy")}) {
    EXPECT_THAT(refused({flag, value}), HasSubstr(flag));
    EXPECT_EQ(refused({flag, value, "--batched"}), "") << flag;
  }
}

TEST(VadFlags, KeyedModelHasItsWindowsCutByKeying) {
  const auto method_for = [](const VadFlags& flags, bool is_keyed) -> std::optional<VadMethod> {
    const auto options = vad_options(flags, {0}, is_keyed).value();
    return options ? std::optional(options->method) : std::nullopt;
  };
  EXPECT_EQ(method_for({}, true), VadMethod::keying) << "without any flag";
  EXPECT_EQ(method_for({.batched = true}, true), VadMethod::keying);
  EXPECT_EQ(method_for({.vad = true, .method = "silero"}, true), VadMethod::silero) << "what is named is taken";
  EXPECT_EQ(method_for({}, false), std::nullopt);
  EXPECT_EQ(method_for({.vad = true}, false), VadMethod::silero);
  EXPECT_EQ(method_for({.vad = true, .method = "keying"}, false), VadMethod::keying);
  EXPECT_EQ(vad_options({}, {0}, true).value()->min_silence_duration_ms, 64);
  EXPECT_EQ(vad_options({.min_silence_duration_ms = 300}, {0}, true).value()->min_silence_duration_ms, 300);
}

TEST(VadFlags, KeyedModelTakesEveryMethodByNameAlone) {
  const auto options = [](const VadFlags& flags) { return vad_options(flags, {0}, true); };
  for (const char* method : {"keying", "energy", "silero"}) {
    const auto found = options({.method = method});
    ASSERT_TRUE(found) << method << ": " << found.error().text();
    EXPECT_TRUE(*found) << method;
  }
  EXPECT_EQ(options({.method = "energy"}).value()->min_silence_duration_ms, 160) << "words are what is short";
}

TEST(VadFlags, TargetIsOfKeyingAlone) {
  const auto found = vad_options({.target_hz = 640}, {0}, true);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ((*found)->target_hz, 640);
  EXPECT_THAT(refused({"--target-hz", "640"}), HasSubstr("--target-hz"));
  EXPECT_THAT(refused({"--vad", "--target-hz", "640"}), HasSubstr("target_hz"));
  EXPECT_THAT(refused({"--vad", "--vad-method", "keying", "--target-hz", "90"}), HasSubstr("250 to 1400"));
}

TEST(VadFlags, InvalidValueIsRefusedAndNamed) {
  EXPECT_THAT(refused({"--vad", "--vad-threshold", "1.5"}), HasSubstr("vad_threshold"));
  EXPECT_THAT(refused({"--vad", "--vad-neg-threshold", "0.7"}), HasSubstr("vad_neg_threshold"));
  EXPECT_THAT(refused({"--vad", "--vad-max-speech-duration-s", "0.5"}), HasSubstr("vad_max_speech_duration_s"));
  EXPECT_THAT(refused({"--batched", "--vad-speech-pad-ms", "15000"}), HasSubstr("found 15000"))
      << "fills a window alone";
  EXPECT_EQ(refused({"--vad", "--vad-speech-pad-ms", "15000"}), "") << "in order there are no windows of speech";
  EXPECT_THAT(refused({"--vad"}, {5, 10, 0, 3}), HasSubstr("--clip-timestamps"));
  EXPECT_EQ(refused({}, {5, 10, 0, 3}), "") << "the reference's loop takes clips in any order";
}
