#pragma once

#include <cstdint>
#include <string>

namespace tutti {

/// What the recipes of all trainings have; each sets the defaults that are its own. training_fields.h gives most of the
/// fields their keys, flags and help.
struct TrainingRecipe {
  // Length of the run
  std::int32_t accumulation = 1;
  std::int32_t epochs = 0;
  std::int32_t max_steps = 0;
  double max_minutes = 0;
  std::int32_t ring_depth = 0;

  // Optimiser
  double learning_rate = 1e-3;
  std::string schedule = "cosine";
  double final_rate = 0;
  double weight_decay = 0.01;
  double clip = 1;
  double ema = 0;

  // Arithmetic
  std::string device = "auto";
  std::string precision = "float32";
  std::int32_t compute_threads = 0;
  double device_memory = 0;
  std::uint64_t seed = 1234;

  // Checkpoints, evaluation, reports
  std::int32_t log_steps = 10;
  std::int32_t save_steps = 500;
  std::int32_t eval_steps = 0;
  std::int32_t keep = 2;
  std::int32_t patience = 0;
  std::int32_t bad_step_limit = 10;
  bool log_order = false;
  std::string export_type = "float16";
};

}  // namespace tutti
