#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "feed/recipe/whisper_recipe.h"
#include "feed/source/dataset.h"
#include "train/evaluation/scores.h"
#include "train/peers/peers.h"
#include "train/whisper/feed.h"
#include "train/whisper/task.h"

namespace tutti {

/// Whether what is asked of evaluations can be had. evaluates: there is a set that judges.
Result<void> check_evaluation(const WhisperRecipe& recipe, bool evaluates);

/// The set to judge by, looked for before anything takes its time. Null where nothing judges, or another process does.
Result<std::unique_ptr<Dataset>> evaluation_set(const DataParts& parts, const Peers* peers);

/// What an evaluation's rates depend on beside the network: for all processes what the first one says, who alone
/// evaluates. A set is what it holds: moved it is the same, changed where it lies another. Asks for every file of it,
/// which takes its time over a network: meanwhile the feed may well read ahead.
std::string evaluator_of(const WhisperRecipe& recipe, const Dataset* set, Peers* peers);

/// Hears the set that judges with the weights as they are; empty where nothing judges. The task is to outlast it.
std::function<Result<Evaluation>()> evaluation_of(const WhisperTask& task, const WhisperRecipe& recipe,
                                                  const DataParts& parts);

}  // namespace tutti
