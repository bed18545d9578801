#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "recipe/classifier_recipe.h"

namespace tutti {

/// Units of the hidden layer for each channel of the first convolution, where a recipe leaves them open.
inline constexpr std::int32_t kHiddenEach = 8;

/// A short training by settings of its own, and what its network came to.
struct TuningTrial {
  std::int64_t number = 0;  ///< the first, 0, has the recipe's own settings
  double learning_rate = 0;
  std::int32_t batch_size = 0;  ///< segments
  double dropout = 0;
  // What training clips are changed by, and the network; as the recipe's fields.
  double gain_db = 0;
  double shift_share = 0;
  double mixup = 0;
  bool use_specaugment = false;
  std::int32_t channels = 0;
  std::int32_t hidden = 0;
  Seconds taken{};
  bool is_whole = false;  ///< its epochs were over before the time for all trials was
  double rank = 0;        ///< of its best evaluation, the lower the better; of a whole one alone
  std::string text{};     ///< that evaluation for people, or why there is none
};

/// The settings that the next trial has. The first ones after the recipe's own each change one thing of the best so
/// far: gain, shift, masks, mixtures, the network's size. After those every other trial draws a rate of a tenth to ten
/// times the recipe's, a batch of a quarter to four times `batch_size`, and dropout up to 0.6; those between try near
/// the best so far. Follows from the recipe's seed and what was tried. Pure. `recipe`: with what the set decides where
/// `named` leaves it open; what that names is not changed.
TuningTrial next_trial(const ClassifierRecipe& recipe, const ClassifierRecipe& named, std::int64_t batch_size,
                       std::span<const TuningTrial> tried);

/// The recipe with a trial's settings; `least-steps` is 1, for the trial's batch is what was tried. Pure.
ClassifierRecipe with_settings_of(ClassifierRecipe recipe, const TuningTrial& trial);

/// The recipe that a trial is trained by: a quarter of the epochs, four at least (fewer show chance alone), and
/// an end of its own. Pure.
ClassifierRecipe trial_recipe(const ClassifierRecipe& recipe, const TuningTrial& trial, Seconds most);

/// The whole trial with the least rank, the earlier of equal ones; null where no trial is whole. Pure.
const TuningTrial* best_trial(std::span<const TuningTrial> tried);

/// Whether another trial is worth its time: at least half of what a whole one took on average is left. Pure.
bool has_time_for_trial(std::span<const TuningTrial> tried, Seconds budget);

/// All trials of OUT/tuning.jsonl, an object a line; none where the file is not there. Fault::corrupt for lines that
/// are no trials.
Result<std::vector<TuningTrial>> read_trials(const std::filesystem::path& path);
Result<void> write_trials(const std::filesystem::path& path, std::span<const TuningTrial> tried);

/// "learning-rate 0.0021, batch-size 64, dropout 0.31, gain-db 0, shift-share 0.1, mixup 0, channels 16".
std::string settings_text(const TuningTrial& trial);

}  // namespace tutti
