#include "transcribe/model_context.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

/// OpenAI's multilingual models before large-v3: 99 languages, without Cantonese.
constexpr std::int32_t kMultilingual = 51865, kEnglish = 51864;

Result<ModelContext> model_of(std::int32_t n_vocab, const SpeechOptions& options) {
  const Ready ready{.n_mels = 80, .n_audio_ctx = 1500, .n_text_ctx = 448, .n_vocab = n_vocab, .slots = 8};
  return spoken_model(Tokenizer::built_in(n_vocab).value(), ready, options);
}

std::string complaint(const SpeechOptions& options) {
  const auto model = model_of(kMultilingual, options);
  return model ? "" : model.error().text();
}

}  // namespace

TEST(ModelContext, OptionInvalidForTheModelIsReportedOnceByItsFlag) {
  SpeechOptions options;
  EXPECT_EQ(complaint(options), "");
  options.decoding.suppress_tokens = {-1, 51865};
  EXPECT_EQ(complaint(options).rfind("suppress_tokens: token 51865", 0), 0U) << complaint(options);
  options.decoding.suppress_tokens = {-1, 51864};
  EXPECT_EQ(complaint(options), "");
  options.long_form.language = "yue";
  EXPECT_EQ(complaint(options).rfind("language: the model does not know 'yue'", 0), 0U) << complaint(options);
  options.long_form.language = "de";
  EXPECT_EQ(complaint(options), "");
  for (int i = 0; i < 448; ++i) options.long_form.prefix += " so";
  EXPECT_EQ(complaint(options).rfind("prefix: its ", 0), 0U) << complaint(options);
}

TEST(ModelContext, WordsOfMorseHaveEachWindowReadOnce) {
  SpeechOptions options;
  options.long_form.words.emplace();
  EXPECT_FALSE(model_of(kMultilingual, options)->fitted.rules.words->reads_windows_once);
  options.vad.emplace().method = VadMethod::silero;
  EXPECT_FALSE(model_of(kMultilingual, options)->fitted.rules.words->reads_windows_once);
  options.keyed = true;
  EXPECT_TRUE(model_of(kMultilingual, options)->fitted.rules.words->reads_windows_once);
}

TEST(ModelContext, EnglishOnlyModelIgnoresOtherLanguages) {
  SpeechOptions options;
  options.long_form.language = "yue";
  options.long_form.translate = true;
  const auto model = model_of(kEnglish, options);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->fitted.rules.language, "en");
  EXPECT_FALSE(model->fitted.rules.translate);
}

TEST(ModelContext, PromptsLongerThanTheModelTakesAreRemarked) {
  SpeechOptions options;
  for (int i = 0; i < 223; ++i) options.long_form.initial_prompt += " so";
  options.long_form.hot_words = options.long_form.initial_prompt;
  EXPECT_TRUE(model_of(kMultilingual, options)->fitted.remarks.empty());
  options.long_form.initial_prompt += " so";
  options.long_form.hot_words += " so so";
  const auto remarks = model_of(kMultilingual, options)->fitted.remarks;
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_EQ(remarks[0].rfind("the initial prompt has 224 tokens; the model takes the last 223", 0), 0U) << remarks[0];
  EXPECT_EQ(remarks[1].rfind("the hot words have 225 tokens; the model takes the first 223", 0), 0U) << remarks[1];
}
