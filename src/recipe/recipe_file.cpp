#include "recipe/recipe_file.h"

#include "recipe/recipe_text.h"
#include "recipe/whisper_fields.h"

namespace tutti {
namespace {

// What decides which samples a batch holds (fingerprint_of in feed/options.cpp), and the network's shape.
// clang-format off
constexpr std::string_view kBinding[] = {
    "data", "max-samples", "use-chunking", "chunk-strategy", "cache",
    "speed-share", "gain-share", "noise-share", "noise-least-db", "noise-most-db", "room-share", "mask-bands", "mask-stretches",
    "model", "width", "heads", "encoder-layers", "decoder-layers", "mels", "window-seconds", "text-context", "vocabulary",
    "batch-size", "batch-seconds", "padding", "look-ahead",
    "ctc-weight", "frame-weight", "freeze-encoder", "lora-rank", "ema", "devices", "seed"};
// clang-format on

}  // namespace

Result<WhisperRecipe> read_recipe(std::string_view toml, const std::string& file_name, WhisperRecipe recipe) {
  return recipe_text::read(toml, file_name, std::move(recipe), "tutti train whisper");
}

std::string show_recipe(WhisperRecipe recipe) {
  return recipe_text::show(std::move(recipe));
}

std::string binding_differences(WhisperRecipe now, WhisperRecipe before) {
  return recipe_text::differences(std::move(now), std::move(before), kBinding);
}

}  // namespace tutti
