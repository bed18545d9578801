#include "train/whisper/changed_settings.h"

#include "base/files.h"
#include "feed/recipe/recipe_file.h"

namespace tutti {

Error with_changed_settings(Error error, const WhisperTraining& training) {
  const auto kept = read_file(training.out / "config.toml");
  const auto before = kept ? read_recipe(*kept, "config.toml") : tl::unexpected(kept.error());
  const auto now = read_recipe(training.settings, "settings");
  if (!before || !now) return error;
  if (const auto changed = binding_differences(*now, *before); !changed.empty())
    error.hint = "Requested now: " + changed + (error.hint.empty() ? "" : ". " + error.hint);
  return error;
}

}  // namespace tutti
