#include <vector>

#include "base/field_names.h"
#include "recipe/classifier_fields.h"
#include "recipe/recipe_file.h"
#include "recipe/recipe_text.h"
#include "recipe/value_checks.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::kMany;
using value_checks::one_of;

// What decides which rows a batch holds, and the network's shape.
// clang-format off
constexpr std::string_view kBinding[] = {
    "data", "gain-db", "shift-share", "noise-share", "noise-least-db", "noise-most-db", "mixup",
    "use-specaugment", "mask-bands", "mask-stretches", "channels", "hidden", "against", "binary-mode", "two-stage",
    "batch-size", "least-steps", "ema", "seed"};
// clang-format on

std::vector<Result<void>> value_checks_of(const ClassifierRecipe& r) {
  return {
      one_of("loss", r.loss, {"cross-entropy", "focal"}),
      one_of("class-weights", r.class_weights, {"inverse", "none"}),
      between("gain-db", r.gain_db, -1, 100),
      between("shift-share", r.shift_share, -1, 1),
      between("noise-share", r.noise_share, 0, 1),
      between("noise-least-db", r.noise_least_db, -100, 200),
      between("noise-most-db", r.noise_most_db, r.noise_least_db, 200),
      between("mixup", r.mixup, 0, 1),
      between("dropout", r.dropout, 0, 0.95),
      between("boost", r.boost, 0.01, 1000),
      between("channels", r.channels, 0, 1024),
      between("hidden", r.hidden, 0, 65536),
      between("batch-size", r.batch_size, 1, 1 << 20),
      between("val-batch-size", r.val_batch_size, 1, 1 << 20),
      between("least-steps", r.least_steps, 1, kMany),
      between("ema", r.ema, 0, 0.999999),
      between("label-smoothing", r.label_smoothing, 0, 0.9),
      between("tune-minutes", r.tune_minutes, 0, kMany),
  };
}

/// What would do nothing beside the others, and so was not intended.
Result<void> check_sense(const ClassifierRecipe& r) {
  const ClassifierRecipe usual;
  const bool has_masks = r.mask_bands != usual.mask_bands || r.mask_stretches != usual.mask_stretches;
  if (has_masks && !r.use_specaugment)
    return fail(Fault::usage, "mask-bands, mask-stretches: without use-specaugment nothing is blanked",
                "Add " + field("use_specaugment") + ", or leave them out");
  if (r.boost != usual.boost && !r.binary_mode && !r.two_stage)
    return fail(Fault::usage, "boost: it counts in binary mode alone",
                "Add " + field("binary_mode") + ", or leave it out");
  if (r.binary_mode && r.two_stage)
    return fail(Fault::usage, "binary-mode, two-stage: the second stage would learn the same again",
                "Leave out one of them");
  if ((r.binary_mode || r.two_stage) && r.against == "none")
    return fail(Fault::usage, "against none: binary mode learns one label against all others",
                "Name the label with " + field("against"));
  return {};
}

}  // namespace

Result<ClassifierRecipe> read_classifier_recipe(std::string_view toml, const std::string& file_name,
                                                ClassifierRecipe recipe) {
  return recipe_text::read(toml, file_name, std::move(recipe), "tutti train classifier");
}

std::string show_recipe(ClassifierRecipe recipe) {
  return recipe_text::show(std::move(recipe));
}

std::string binding_differences(ClassifierRecipe now, ClassifierRecipe before) {
  return recipe_text::differences(std::move(now), std::move(before), kBinding);
}

Result<void> check_recipe(const ClassifierRecipe& recipe) {
  if (auto checked = value_checks::first_fault(recipe, value_checks_of(recipe)); !checked) return checked;
  if (auto checked = check_sense(recipe); !checked) return checked;
  if (recipe.data.empty())
    return fail(Fault::usage, "data: nothing to learn is named", "Name a folder with " + field("data"));
  return {};
}

}  // namespace tutti
