#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/files.h"
#include "recipe/classifier_recipe.h"
#include "recipe/recipe_file.h"

namespace tutti {
namespace {

TEST(Recipe, ShownRecipeReadsBackUnchanged) {
  WhisperRecipe recipe;
  recipe.data.source = "some \"quoted\" folder";
  recipe.data.max_samples = 7;
  recipe.optimiser.learning_rate = 3e-4;
  recipe.optimiser.beta2 = 0.98;
  recipe.learning.freeze_encoder = true;
  recipe.arithmetic.seed = 1234567890123;
  const auto shown = show_recipe(recipe);
  const auto again = read_recipe<WhisperRecipe>(shown, "shown");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(show_recipe(*again), shown);
  EXPECT_EQ(again->data.source, recipe.data.source);
  EXPECT_EQ(again->arithmetic.seed, recipe.arithmetic.seed);
  EXPECT_EQ(again->optimiser.beta2, recipe.optimiser.beta2);
}

TEST(Recipe, KeysThatAreNotThereKeepTheirValues) {
  WhisperRecipe before;
  before.batches.epochs = 11;
  const auto recipe = read_recipe("batch-size = 3", "r", before);
  EXPECT_EQ(recipe->batches.size, 3);
  EXPECT_EQ(recipe->batches.epochs, 11);
}

TEST(Recipe, AnUnknownKeyIsNamedWithItsLineAndTheNearestRightOne) {
  const auto recipe = read_recipe<WhisperRecipe>("epochs = 1\nlearning-rat = 1e-4\n", "my.toml");
  ASSERT_FALSE(recipe);
  EXPECT_EQ(recipe.error().fault, Fault::usage);
  EXPECT_NE(recipe.error().what.find("my.toml:2: 'learning-rat'"), std::string::npos) << recipe.error().what;
  EXPECT_NE(recipe.error().hint.find("'learning-rate'"), std::string::npos) << recipe.error().hint;
}

TEST(Recipe, AValueOfAnotherKindIsRefused) {
  for (const char* line : {"epochs = 1.5", "epochs = -1", "epochs = 3000000000", "model = 3", "log-order = 1",
                           "learning-rate = \"fast\"", "epochs = [1]"}) {
    const auto recipe = read_recipe<WhisperRecipe>(line, "r");
    ASSERT_FALSE(recipe) << line;
    EXPECT_NE(recipe.error().what.find("expected"), std::string::npos) << recipe.error().what;
  }
}

TEST(Recipe, IntegersAreAcceptedAsNumbers) {
  EXPECT_EQ(read_recipe<WhisperRecipe>("clip = 2", "r")->optimiser.clip, 2.0);
}

TEST(Recipe, InvalidValuesAreNamed) {
  const auto broken = [](auto change) {
    WhisperRecipe recipe;
    recipe.data.source = "somewhere";
    change(recipe);
    const auto checked = check_recipe(recipe);
    return checked ? std::string() : checked.error().what;
  };
  EXPECT_EQ(broken([](WhisperRecipe&) {}), "");
  EXPECT_NE(broken([](WhisperRecipe& r) { r.optimiser.schedule = "quadratic"; }).find("schedule"), std::string::npos);
  EXPECT_NE(broken([](WhisperRecipe& r) { r.network.window_seconds = 31; }).find("window-seconds"), std::string::npos);
  EXPECT_NE(broken([](WhisperRecipe& r) { r.batches.epochs = 0; }).find("epochs"), std::string::npos);
  EXPECT_NE(broken([](WhisperRecipe& r) { r.optimiser.clip = -1; }).find("clip"), std::string::npos);
  EXPECT_NE(broken([](WhisperRecipe& r) { r.data.cache_gigabytes = 0; }).find("cache-gigabytes"), std::string::npos);
  EXPECT_NE(broken([](WhisperRecipe& r) {
              r.augmentation.noise_most_db = r.augmentation.noise_least_db - 1;
            }).find("noise-most-db"),
            std::string::npos);
  EXPECT_NE(broken([](WhisperRecipe& r) { r.data.source.clear(); }).find("data"), std::string::npos);
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.run.patience = -1; }),
            "patience: expected a whole number, not negative; found -1");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.optimiser.ema = 1; }), "ema: expected 0 to less than 1, found 1.0");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.optimiser.ema = 0.9999; }), "");
  EXPECT_NE(broken([](WhisperRecipe& r) { r.optimiser.beta2 = 1; }).find("beta2"), std::string::npos);
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.mels = 100; }), "mels: expected one of 80, 128; found '100'");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.arithmetic.compute_threads = 2000; }),
            "compute-threads: expected 0 to 1024, found 2000");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.hardware.threads = 2000; }), "threads: expected 0 to 1024, found 2000");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.width = 0; }), "width: expected 2 to 65536, found 0");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.heads = 0; }), "heads: expected 1 to 384, found 0");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.heads = 5; }),
            "width, heads: expected an even width that the heads divide, found 384 and 5");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.width = r.network.heads = 15; }),
            "width, heads: expected an even width that the heads divide, found 15 and 15");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.encoder_layers = 0; }),
            "encoder-layers: expected 1 to 1024, found 0");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.decoder_layers = 0; }),
            "decoder-layers: expected 1 to 1024, found 0");
  EXPECT_EQ(broken([](WhisperRecipe& r) { r.network.text_context = 4; }),
            "text-context: expected 16 to 65536, found 4");
  EXPECT_EQ(broken([](WhisperRecipe& r) {
              r.network.model = "stored";
              r.network.window_seconds = 60;
            }),
            "")
      << "a stored network has its own window";
}

TEST(Recipe, WordsAreReadAndShownAndUnknownOnesRefused) {
  VocoderRecipe recipe{.data = {.train_data = "set"}};
  EXPECT_EQ(recipe.optimiser.schedule, RateShape::cosine);
  recipe = read_recipe("schedule = \"linear\"\nprecision = \"tf32\"", "r", recipe).value();
  EXPECT_EQ(recipe.optimiser.schedule, RateShape::linear);
  EXPECT_EQ(recipe.arithmetic.precision, StepPrecision::tf32);
  EXPECT_NE(show_recipe(recipe).find("schedule = 'linear'\n"), std::string::npos) << show_recipe(recipe);
  for (const std::string word : {"quadratic", ""}) {
    const auto unknown = read_recipe("schedule = \"" + word + "\"", "r", recipe).value();
    EXPECT_EQ(check_recipe(unknown).error().what,
              "schedule: expected one of constant, linear, cosine; found '" + word + "'");
  }
}

TEST(Recipe, FixedSettingsChangedOnResumeAreNamedWithBothValues) {
  WhisperRecipe before;
  before.data.source = "a";
  before.batches.size = 2;
  EXPECT_EQ(binding_differences(before, before), "");
  WhisperRecipe now = before;
  now.batches.max_steps = 99;
  now.optimiser.learning_rate = 0.5;
  EXPECT_EQ(binding_differences(now, before), "") << "these may change";
  now.data.source = "b";
  now.batches.size = 4;
  EXPECT_EQ(binding_differences(now, before), "data 'b' (it was 'a'), batch-size 4 (it was 2)");
}

TEST(Recipe, SettingWithoutEffectIsRefusedByName) {
  const auto refused = [](auto change) {
    WhisperRecipe recipe;
    recipe.data.source = "somewhere";
    change(recipe);
    const auto checked = check_recipe(recipe);
    return checked ? std::string() : checked.error().text();
  };
  EXPECT_NE(refused([](WhisperRecipe& r) { r.optimiser.cycles = 3; })
                .find("cycles: only the cosine restarts; the schedule is "
                      "'linear'"),
            std::string::npos);
  EXPECT_EQ(refused([](WhisperRecipe& r) {
              r.optimiser.cycles = 3;
              r.optimiser.schedule = "cosine";
            }),
            "");
  EXPECT_NE(refused([](WhisperRecipe& r) {
              r.learning.lora_rank = 4;
              r.learning.lora_alpha = 0;
            }).find("lora-alpha: expected more than 0, found 0.0"),
            std::string::npos);
  const auto recomputed = [&](bool frozen, double attention) {
    return refused([&](WhisperRecipe& r) {
      r.hardware.gradient_checkpointing = true;
      r.learning.freeze_encoder = frozen;
      r.learning.attention_weight = attention;
    });
  };
  EXPECT_NE(recomputed(true, 0.5).find("gradient-checkpointing"), std::string::npos);
  EXPECT_EQ(recomputed(true, 0), "") << "the decoder's";
  EXPECT_EQ(recomputed(false, 0.5), "") << "the encoder's";
}

TEST(Recipe, ADataSetThatIsPackedOnceRefusesWhatChangesInEveryEpochByName) {
  const auto refused = [](auto change) {
    WhisperRecipe recipe;
    recipe.data.source = "somewhere";
    recipe.data.cache = "there";
    recipe.data.data_set = "mapped";
    change(recipe);
    const auto checked = check_recipe(recipe);
    return checked ? std::string() : checked.error().text();
  };
  EXPECT_EQ(refused([](WhisperRecipe& r) { r.augmentation.mask_bands = r.augmentation.mask_stretches = 2; }), "");
  EXPECT_EQ(refused([](WhisperRecipe& r) { r.data.data_set = "device"; }), "");
  const auto order = refused([](WhisperRecipe& r) { r.packing.order = "any"; });
  EXPECT_NE(order.find("order any, data-set mapped: "), std::string::npos) << order;
  const auto audio = refused([](WhisperRecipe& r) { r.augmentation.speed_share = r.augmentation.room_share = 0.5; });
  EXPECT_NE(audio.find("data-set mapped, speed-share, room-share: "), std::string::npos) << audio;
  EXPECT_NE(audio.find("data-set stream"), std::string::npos) << audio;
  const auto chunks = refused([](WhisperRecipe& r) { r.data.chunk_strategy = "random"; });
  EXPECT_NE(chunks.find("chunk-strategy random"), std::string::npos) << chunks;
  EXPECT_EQ(refused([](WhisperRecipe& r) {
              r.data.chunk_strategy = "random";
              r.data.use_chunking = false;
            }),
            "");
  EXPECT_NE(refused([](WhisperRecipe& r) { r.data.cache.clear(); }).find("Name a folder with cache"),
            std::string::npos);
  EXPECT_NE(refused([](WhisperRecipe& r) {
              r.data.cache.clear();
              r.hardware.data_gpu = "cpu";
            }).find("data-gpu"),
            std::string::npos);
  EXPECT_NE(
      refused([](WhisperRecipe& r) { r.data.data_set = "ram"; }).find("stream, mapped, memory, device; found 'ram'"),
      std::string::npos);
}

/// Whether a text is a valid recipe over `start`.
Result<void> as_recipe(const std::string& text, const std::string& name, auto start) {
  const auto recipe = read_recipe(text, name, std::move(start));
  return recipe ? check_recipe(*recipe) : tl::unexpected<Error>(recipe.error());
}

TEST(Recipe, ShippedRecipesAreValid) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TUTTI_SOURCE_DIR) + "/recipes")) {
    if (entry.path().extension() != ".toml") continue;
    const auto text = read_file(entry.path()).value(), name = entry.path().string();
    const auto whisper = as_recipe(text, name, WhisperRecipe{.data = {.source = "somewhere"}});
    const auto classifier = as_recipe(text, name, ClassifierRecipe{.data = "somewhere"});
    EXPECT_TRUE(whisper || classifier) << whisper.error().text() << "\n" << classifier.error().text();
    ++found;
  }
  EXPECT_GE(found, 3);
}

}  // namespace
}  // namespace tutti
