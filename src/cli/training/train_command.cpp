#include <algorithm>
#include <utility>

#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/training/training_run.h"
#include "recipe/classifier_recipe.h"
#include "recipe/tts_recipe.h"
#include "recipe/vocoder_recipe.h"
#include "recipe/whisper_recipe.h"

namespace tutti {
namespace {

constexpr std::pair<std::string_view, RunCommand> kTrainings[] = {{kWhisperTraining, run_train_whisper},
                                                                  {kClassifierTraining, run_train_classifier},
                                                                  {kTtsTraining, run_train_tts},
                                                                  {kVocoderTraining, run_train_vocoder}};

/// The training that is intended where none is named.
constexpr std::string_view kUsualTraining = kWhisperTraining;

std::string nearest_training(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, run] : kTrainings) names.emplace_back(known);
  const auto nearest = nearest_name(name, names);
  return nearest.empty() ? std::string(kUsualTraining) : nearest;
}

}  // namespace

int run_train(const std::vector<std::string>& arguments) {
  const bool is_named = !arguments.empty() && !arguments[0].starts_with("-");
  const std::string name = is_named ? arguments[0] : std::string(kUsualTraining);
  const auto found = std::ranges::find(kTrainings, name, [](const auto& training) { return training.first; });
  if (found != std::end(kTrainings)) return found->second({arguments.begin() + (is_named ? 1 : 0), arguments.end()});
  return complain(
      {Fault::usage, "'" + name + "': no such training", "Did you mean 'tutti train " + nearest_training(name) + "'?"},
      kUsage);
}

}  // namespace tutti
