#include "recipe/whisper_presets.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tutti {
namespace {

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
