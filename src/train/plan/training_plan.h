#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// A GPU to plan a training for.
struct PlannedGpu {
  std::string name{};
  Bytes memory{};
};

/// The arguments of `tutti-engine plan-training`.
struct TrainingPlanRequest {
  std::vector<PlannedGpu> gpus{};
  std::filesystem::path data{};  ///< a set of 'tutti prepare'; empty: one as the field note has it. Not of Whisper
  std::string model{};           ///< size by name, of Whisper also a model's path; empty: the usual one
  bool json = false;
};

// Each plans the training of one kind for every GPU: the batch that `tutti train KIND` is to be started with, and what
// that takes of its memory, for people or as one JSON object. A step on this machine's processor verifies what the plan
// supposes of a sample; where it held more, the plan has that. The figures of the kind's field note are beside it.
//
// For a process that does nothing else (dry_run). Fault::usage for a size that there is not; Fault::missing and
// Fault::corrupt name the file of `data`.

/// `data`: as LabelledSet::open reads it.
Result<std::string> plan_classifier(const TrainingPlanRequest& request);
Result<std::string> plan_whisper(const TrainingPlanRequest& request);
/// `data`: as VoiceSet::open reads it.
Result<std::string> plan_tts(const TrainingPlanRequest& request);
/// `data`: as VocoderData::open reads it. No field note has figures of a vocoder.
Result<std::string> plan_vocoder(const TrainingPlanRequest& request);

/// Plans 'tutti train KIND'. Fault::usage for another kind, and for what it does not take.
Result<std::string> plan_training(const std::string& kind, const TrainingPlanRequest& request);

}  // namespace tutti
