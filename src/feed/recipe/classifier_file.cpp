#include <vector>

#include "feed/recipe/classifier_fields.h"
#include "feed/recipe/recipe_checks.h"
#include "feed/recipe/recipe_file.h"
#include "feed/recipe/recipe_text.h"
#include "feed/recipe/value_checks.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::kMany;
using value_checks::one_of;

// What decides which rows a batch holds, and the network's shape.
constexpr std::string_view kBinding[] = {"data",           "gain-db",  "shift-share", "mask-bands",
                                         "mask-stretches", "channels", "against",     "batch-size",
                                         "least-steps",    "ema",      "seed"};

std::vector<Result<void>> value_checks_of(const ClassifierRecipe& r) {
  return {
      one_of("loss", r.loss, {"cross-entropy", "focal"}),
      one_of("class-weights", r.class_weights, {"inverse", "none"}),
      between("gain-db", r.gain_db, 0, 100),
      between("shift-share", r.shift_share, 0, 1),
      between("channels", r.channels, 1, 1024),
      between("batch-size", r.batch_size, 1, 1 << 20),
      between("val-batch-size", r.val_batch_size, 1, 1 << 20),
      between("least-steps", r.least_steps, 1, kMany),
      between("ema", r.ema, 0, 0.999999),
      between("label-smoothing", r.label_smoothing, 0, 0.9),
  };
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
  if (recipe.data.empty()) return fail(Fault::usage, "data: nothing to learn is named", "Name a folder with --data");
  return {};
}

}  // namespace tutti
