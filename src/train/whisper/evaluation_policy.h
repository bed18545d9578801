#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "feed/source/dataset.h"
#include "recipe/whisper_recipe.h"
#include "train/evaluation/scores.h"
#include "train/peers/peers.h"
#include "train/whisper/feed.h"
#include "train/whisper/task.h"

namespace tutti {

/// Whether the evaluations that the recipe requests are possible. evaluates: there is an evaluation set.
Result<void> check_evaluation(const WhisperRecipe& recipe, bool evaluates);

/// The evaluation set, looked for before anything takes its time. Null where nothing is evaluated, or another process
/// evaluates.
Result<std::unique_ptr<Dataset>> evaluation_set(const DataParts& parts, const Peers* peers);

/// What an evaluation's rates depend on beside the network. All processes use what the first one reports, which alone
/// evaluates. A set is what it holds: moved it is the same, changed at the same path it is another. Reads the size of
/// every file of it, which takes its time over a network: meanwhile the feed may well read ahead.
std::string evaluator_of(const WhisperRecipe& recipe, const Dataset* set, Peers* peers);

/// The rates as a training sees them: the word error rate ranks networks; characters and silence break ties.
TaskScores scores_of(const Evaluation& evaluation);

/// Evaluates the weights as they are on the evaluation set; empty where nothing is evaluated. `keyed_tone`: as
/// FeedOptions has it. The task is to outlast it.
std::function<Result<TaskScores>()> evaluation_of(const WhisperTask& task, const WhisperRecipe& recipe,
                                                  const DataParts& parts, bool keyed_tone);

}  // namespace tutti
