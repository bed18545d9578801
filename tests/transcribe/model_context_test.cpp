#include "transcribe/model_context.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

/// OpenAI's multilingual models before large-v3: 99 languages, without Cantonese.
constexpr std::int32_t kMultilingual = 51865, kEnglish = 51864;

Result<ModelContext> model_of(std::int32_t n_vocab, const RunOptions& options) {
  const Ready ready{.n_mels = 80, .n_audio_ctx = 1500, .n_text_ctx = 448, .n_vocab = n_vocab, .slots = 8};
  return spoken_model(Tokenizer::built_in(n_vocab).value(), ready, options);
}

std::string complaint(const RunOptions& options) {
  const auto model = model_of(kMultilingual, options);
  return model ? "" : model.error().text();
}

}  // namespace

TEST(ModelContext, OptionInvalidForTheModelIsReportedOnceByItsFlag) {
  RunOptions options;
  EXPECT_EQ(complaint(options), "");
  options.decoding.suppress_tokens = {-1, 51865};
  EXPECT_EQ(complaint(options).rfind("--suppress-tokens: token 51865", 0), 0U) << complaint(options);
  options.decoding.suppress_tokens = {-1, 51864};
  EXPECT_EQ(complaint(options), "");
  options.long_form.language = "yue";
  EXPECT_EQ(complaint(options).rfind("--language: the model does not know 'yue'", 0), 0U) << complaint(options);
  options.long_form.language = "de";
  EXPECT_EQ(complaint(options), "");
  for (int i = 0; i < 448; ++i) options.long_form.prefix += " so";
  EXPECT_EQ(complaint(options).rfind("--prefix: its ", 0), 0U) << complaint(options);
}

TEST(ModelContext, EnglishOnlyModelIgnoresOtherLanguages) {
  RunOptions options;
  options.long_form.language = "yue";
  options.long_form.translate = true;
  const auto model = model_of(kEnglish, options);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->fitted.rules.language, "en");
  EXPECT_FALSE(model->fitted.rules.translate);
}
