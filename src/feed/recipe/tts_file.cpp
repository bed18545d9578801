#include <vector>

#include "feed/recipe/recipe_checks.h"
#include "feed/recipe/recipe_file.h"
#include "feed/recipe/recipe_text.h"
#include "feed/recipe/tts_fields.h"
#include "feed/recipe/value_checks.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::one_of;

// What decides which clips a batch holds, and the network's shape.
constexpr std::string_view kBinding[] = {"train-data",    "model",          "model-size", "width", "encoder-layers",
                                         "decoder-width", "decoder-layers", "batch-size", "ema",   "seed"};

constexpr double kMany = 1e9;

std::vector<Result<void>> value_checks_of(const TtsRecipe& r) {
  return {
      one_of("model-size", r.model_size, {"nano", "tiny", "small", "normal", "big"}),
      one_of("export-type", r.export_type, {"float32", "float16", "bfloat16"}),
      one_of("schedule", r.schedule, {"constant", "linear", "cosine"}),
      one_of("precision", r.precision, {"float32", "tf32", "bfloat16", "float16"}),
      between("width", r.width, 0, 8192),
      between("encoder-layers", r.encoder_layers, 0, 100),
      between("decoder-width", r.decoder_width, 0, 8192),
      between("decoder-layers", r.decoder_layers, 0, 100),
      between("dropout", r.dropout, 0, 0.95),
      between("batch-size", r.batch_size, 1, 1 << 16),
      between("accumulation", r.accumulation, 1, kMany),
      between("max-minutes", r.max_minutes, 0, kMany),
      between("ring-depth", r.ring_depth, 1, 1000),
      between("learning-rate", r.learning_rate, 0, 10),
      between("final-rate", r.final_rate, 0, 1),
      between("weight-decay", r.weight_decay, 0, kMany),
      between("clip", r.clip, 0, kMany),
      between("ema", r.ema, 0, 0.999999),
      between("compute-threads", r.compute_threads, 0, 1024),
      between("log-steps", r.log_steps, 1, kMany),
      between("keep", r.keep, 1, kMany),
      between("epochs + max-steps", r.epochs + r.max_steps, 1, kMany),
  };
}

}  // namespace

Result<TtsRecipe> read_tts_recipe(std::string_view toml, const std::string& file_name, TtsRecipe recipe) {
  return recipe_text::read(toml, file_name, std::move(recipe), "tutti train tts");
}

std::string show_recipe(TtsRecipe recipe) {
  return recipe_text::show(std::move(recipe));
}

std::string binding_differences(TtsRecipe now, TtsRecipe before) {
  return recipe_text::differences(std::move(now), std::move(before), kBinding);
}

Result<void> check_recipe(const TtsRecipe& recipe) {
  value_checks::Negatives negatives;
  auto copy = recipe;
  visit_fields(copy, negatives);
  if (!negatives.none) return negatives.none;
  for (const auto& check : value_checks_of(recipe))
    if (!check) return check;
  if (recipe.train_data.empty())
    return fail(Fault::usage, "train-data: nothing to learn is named", "Name a set with --train-data");
  return {};
}

}  // namespace tutti
