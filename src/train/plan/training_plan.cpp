#include "train/plan/training_plan.h"

#include <algorithm>
#include <array>

#include "base/field_names.h"
#include "recipe/classifier_recipe.h"
#include "recipe/tts_recipe.h"
#include "recipe/vocoder_recipe.h"
#include "recipe/whisper_recipe.h"

namespace tutti {
namespace {

struct Kind {
  std::string_view name;
  Result<std::string> (*plan)(const TrainingPlanRequest& request);
  bool takes_data;
  bool takes_model;
};
constexpr std::array kKinds{
    Kind{kClassifierTraining, &plan_classifier, true, false}, Kind{kWhisperTraining, &plan_whisper, false, true},
    Kind{kTtsTraining, &plan_tts, true, true}, Kind{kVocoderTraining, &plan_vocoder, true, false}};

}  // namespace

Result<std::string> plan_training(const std::string& kind, const TrainingPlanRequest& request) {
  const auto found = std::ranges::find(kKinds, kind, &Kind::name);
  if (found == kKinds.end())
    return fail(Fault::usage, "plan-training: expected classifier, whisper, tts or vocoder, found '" + kind + "'");
  if (!request.data.empty() && !found->takes_data)
    return fail(Fault::usage, "data: the plan of " + kind + " takes no set: every sample is planned as a whole window",
                "Leave it out");
  if (!request.model.empty() && !found->takes_model)
    return fail(Fault::usage, "model: the network of a " + kind + " follows from its set",
                "Name the set with " + field("data"));
  return found->plan(request);
}

}  // namespace tutti
