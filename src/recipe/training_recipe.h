#pragma once

#include <cstdint>
#include <string>

#include "recipe/keyword.h"

// The parts that the recipes of all trainings have. Each recipe sets the defaults that are its own; training_fields.h
// gives the settings of a part their keys, flags and help.
namespace tutti {

/// How the learning rate falls behind its highest.
enum class RateShape { constant, linear, cosine };
using ScheduleWord = Keyword<RateShape, "constant|linear|cosine">;

/// What products are rounded to.
enum class StepPrecision { float32, tf32, bfloat16, float16 };
using PrecisionWord = Keyword<StepPrecision, "float32|tf32|bfloat16|float16">;

/// The number type of stored weights.
enum class ExportType { float32, float16, bfloat16 };
using ExportWord = Keyword<ExportType, "float32|float16|bfloat16">;

/// The batches of a step, and for how long steps are made.
struct BatchSettings {
  std::int32_t size = 16;
  std::int32_t accumulation = 1;
  std::int32_t epochs = 0;
  std::int32_t max_steps = 0;
  double max_minutes = 0;
  std::int32_t ring_depth = 0;
};

/// AdamW and its rate. Not every recipe has keys for all of it (OptimiserKeys).
struct OptimiserSettings {
  double learning_rate = 1e-3;
  std::int32_t warmup_steps = 100;
  std::int32_t warmup_epochs = 3;  // in place of the steps, where a recipe has a key for it
  ScheduleWord schedule = RateShape::cosine;
  std::int32_t schedule_steps = 0;
  std::int32_t cycles = 1;
  double final_rate = 0;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip = 1;
  double ema = 0;
};

/// Where and in what a network is computed.
struct ArithmeticSettings {
  std::string device = "auto";
  PrecisionWord precision = StepPrecision::float32;
  std::int32_t compute_threads = 0;
  double device_memory = 0;
  std::uint64_t seed = 1234;
};

/// Checkpoints, evaluations and reports.
struct RunSettings {
  std::int32_t log_steps = 10;
  std::int32_t save_steps = 500;
  std::int32_t eval_steps = 0;
  std::int32_t keep = 2;
  std::int32_t patience = 0;
  std::int32_t bad_step_limit = 10;
  bool log_order = false;
};

}  // namespace tutti
