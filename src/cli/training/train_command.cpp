#include <algorithm>
#include <utility>

#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/training/train_commands.h"
#include "feed/recipe/training_names.h"

namespace tutti {
namespace {

constexpr std::pair<std::string_view, RunCommand> kTrainings[] = {{kWhisperTraining, run_train_whisper},
                                                                  {kClassifierTraining, run_train_classifier}};

}  // namespace

int run_train(const std::vector<std::string>& arguments) {
  const bool is_named = !arguments.empty() && !arguments[0].starts_with("-");
  const std::string name = is_named ? arguments[0] : std::string(kUsualTraining);
  const auto found = std::ranges::find(kTrainings, name, [](const auto& training) { return training.first; });
  if (found != std::end(kTrainings)) return found->second({arguments.begin() + (is_named ? 1 : 0), arguments.end()});
  const auto nearest = nearest_name(name, training_names());
  const auto intended = nearest.empty() ? std::string(kUsualTraining) : nearest;
  return complain({Fault::usage, "'" + name + "': no such training", "Did you mean 'tutti train " + intended + "'?"},
                  kUsage);
}

}  // namespace tutti
