#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/strings.h"

// What the checks of every recipe say of a single value.
namespace tutti::value_checks {

inline Result<void> one_of(const char* name, const std::string& value, std::initializer_list<const char*> choices) {
  if (std::ranges::find(choices, value) != choices.end()) return {};
  return fail(Fault::usage,
              std::string(name) + ": expected one of " + joined(choices, ", ") + "; found '" + value + "'");
}

inline Result<void> between(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  std::ostringstream text;
  text << name << ": expected " << least << " to " << most << ", found " << value;
  return fail(Fault::usage, text.str());
}

/// Finds the first negative whole number: a flag may be one, none of the fields can.
class Negatives {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    if constexpr (std::is_same_v<T, std::int32_t>)
      if (field < 0 && none)
        none = fail(Fault::usage,
                    std::string(name) + ": expected a whole number, not negative; found " + std::to_string(field));
  }
  Result<void> none{};
};

constexpr double kMany = 1e9;
constexpr double kMostThreads = 1024;

/// The checks of the fields that the recipes of all trainings have.
template <class Recipe>
std::vector<Result<void>> training_checks(const Recipe& r) {
  return {
      one_of("export-type", r.export_type, {"float32", "float16", "bfloat16"}),
      one_of("schedule", r.schedule, {"constant", "linear", "cosine"}),
      one_of("precision", r.precision, {"float32", "tf32", "bfloat16", "float16"}),
      between("accumulation", r.accumulation, 1, kMany),
      between("max-minutes", r.max_minutes, 0, kMany),
      between("ring-depth", r.ring_depth, 0, 1000),
      between("learning-rate", r.learning_rate, 0, 10),
      between("final-rate", r.final_rate, 0, 1),
      between("weight-decay", r.weight_decay, 0, kMany),
      between("clip", r.clip, 0, kMany),
      between("compute-threads", r.compute_threads, 0, kMostThreads),
      between("device-memory", r.device_memory, 0, kMany),
      between("log-steps", r.log_steps, 1, kMany),
      between("keep", r.keep, 1, kMany),
      between("epochs + max-steps", r.epochs + r.max_steps, 1, kMany),
  };
}

/// The first fault of a recipe: a negative whole number, else the first of training_checks or of its own checks.
template <class Recipe>
Result<void> first_fault(Recipe recipe, const std::vector<Result<void>>& own) {
  Negatives negatives;
  visit_fields(recipe, negatives);
  if (!negatives.none) return negatives.none;
  for (const auto& checks : {training_checks(recipe), own})
    for (const auto& check : checks)
      if (!check) return check;
  return {};
}

}  // namespace tutti::value_checks
