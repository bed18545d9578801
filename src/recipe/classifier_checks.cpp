#include <vector>

#include "base/field_names.h"
#include "base/try.h"
#include "recipe/classifier_fields.h"
#include "recipe/recipe_file.h"
#include "recipe/value_checks.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::kMany;

std::vector<Result<void>> value_checks_of(const ClassifierRecipe& r) {
  return {
      between("gain-db", r.augmentation.gain_db, -1, 100),
      between("shift-share", r.augmentation.shift_share, -1, 1),
      between("noise-share", r.augmentation.noise_share, 0, 1),
      between("noise-least-db", r.augmentation.noise_least_db, -100, 200),
      between("noise-most-db", r.augmentation.noise_most_db, r.augmentation.noise_least_db, 200),
      between("mixup", r.augmentation.mixup, 0, 1),
      between("dropout", r.network.dropout, 0, 0.95),
      between("boost", r.network.boost, 0.01, 1000),
      between("channels", r.network.channels, 0, 1024),
      between("hidden", r.network.hidden, 0, 65536),
      between("batch-size", r.batches.size, 1, 1 << 20),
      between("val-batch-size", r.val_batch_size, 1, 1 << 20),
      between("least-steps", r.least_steps, 1, kMany),
      between("ema", r.optimiser.ema, 0, 0.999999),
      between("label-smoothing", r.loss.label_smoothing, 0, 0.9),
      between("tune-minutes", r.tune_minutes, 0, kMany),
  };
}

/// What would do nothing beside the others, and so was not intended.
Result<void> check_sense(const ClassifierRecipe& r) {
  const ClassifierRecipe usual;
  const bool has_masks = r.augmentation.mask_bands != usual.augmentation.mask_bands ||
                         r.augmentation.mask_stretches != usual.augmentation.mask_stretches;
  if (has_masks && !r.augmentation.use_specaugment)
    return fail(Fault::usage, "mask-bands, mask-stretches: without use-specaugment nothing is blanked",
                "Add " + field("use_specaugment") + ", or leave them out");
  if (r.network.boost != usual.network.boost && !r.network.binary_mode && !r.network.two_stage)
    return fail(Fault::usage, "boost: it counts in binary mode alone",
                "Add " + field("binary_mode") + ", or leave it out");
  if (r.network.binary_mode && r.network.two_stage)
    return fail(Fault::usage, "binary-mode, two-stage: the second stage would learn the same again",
                "Leave out one of them");
  if ((r.network.binary_mode || r.network.two_stage) && r.network.against == "none")
    return fail(Fault::usage, "against none: binary mode learns one label against all others",
                "Name the label with " + field("against"));
  return {};
}

}  // namespace

Result<void> check_recipe(const ClassifierRecipe& recipe) {
  TRY(value_checks::first_fault(recipe, value_checks_of(recipe)));
  TRY(check_sense(recipe));
  if (recipe.data.empty())
    return fail(Fault::usage, "data: nothing to learn is named", "Name a folder with " + field("data"));
  return {};
}

}  // namespace tutti
