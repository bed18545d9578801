#include "recipe/recipe_file.h"

#include <algorithm>
#include <iterator>

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

struct Preset {
  std::string_view name{};
  std::string_view text{};
};

/// The defaults of field note 004's script. Its loader has no counterpart here, and its precision is chosen by flags
/// there, too.
constexpr Preset kPresets[] = {{"whisper-small", R"(model = "openai/whisper-small"
batch-size = 16
accumulation = 1
learning-rate = 1e-5
warmup-steps = 500
schedule = "linear"
epochs = 3
clip = 1.0
weight-decay = 0.0
gradient-checkpointing = true
log-steps = 100
save-steps = 500
eval-steps = 500
keep = 3
)"}};

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

std::vector<std::string> whisper_preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

std::string whisper_preset(const std::string& name) {
  const auto found = std::ranges::find(kPresets, name, &Preset::name);
  return found == std::end(kPresets) ? std::string() : std::string(found->text);
}

}  // namespace tutti
