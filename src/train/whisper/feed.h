#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "feed/options.h"
#include "model/formats/dims.h"
#include "recipe/whisper_recipe.h"

namespace tutti {

/// Which part of every epoch is a process's own.
struct FeedShare {
  int rank = 0;
  int ranks = 1;
};

/// The length of audio that a network of that shape takes at once.
Seconds window_of(const WhisperDims& dims);

/// The feed's options by a recipe, for a network of that shape. `split`: DataParts::train_split. `resume`: the position
/// to go on behind; empty: from the start.
FeedOptions training_feed(const WhisperRecipe& recipe, const WhisperDims& dims, const std::filesystem::path& out,
                          const std::string& split, FeedShare share, std::string resume);

/// Where the recipe wants the set to be kept, and what a set may take of the memory that is free there: four fifths,
/// for the network has yet to step; of the machine's own memory its share, where several processes train there.
/// `device`: the network's.
ResidentOptions resident_of(const WhisperRecipe& recipe, at::Device device);

/// The evaluation set, in its own order, in whole windows and as it is. `split`: as FeedOptions::split.
FeedOptions evaluation_feed(const WhisperRecipe& recipe, const WhisperDims& dims, const std::filesystem::path& data,
                            std::string split);

/// Which part of the data is learned, and which is for evaluation.
struct DataParts {
  std::string train_split{};                         // empty: all of it
  std::optional<std::filesystem::path> eval_data{};  // none: nothing is evaluated
  std::string eval_split{};
};

/// Looks at what the data has: "train" and "validation" (else "test") where there are such splits.
DataParts data_parts(const WhisperRecipe& recipe);

}  // namespace tutti
