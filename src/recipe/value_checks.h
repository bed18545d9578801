#pragma once

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "base/try.h"
#include "recipe/training_recipe.h"

// What the checks of every recipe say of a single value.
namespace tutti::value_checks {

/// `choices`: "80|128".
inline Result<void> one_of(const char* name, const std::string& value, std::string_view choices) {
  const auto all = split(choices, '|');
  if (std::ranges::find(all, value) != all.end()) return {};
  return fail(Fault::usage, std::string(name) + ": expected one of " + joined(all, ", ") + "; found '" + value + "'");
}

inline Result<void> between(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  std::ostringstream text;
  text << name << ": expected " << least << " to " << most << ", found " << value;
  return fail(Fault::usage, text.str());
}

/// Finds the first whole number that is negative, as a flag may be one and none of the fields can, and the first word
/// that is none of its setting's.
class FieldFaults {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    if constexpr (std::is_same_v<T, std::int32_t>)
      if (field < 0 && negative)
        negative = fail(Fault::usage,
                        std::string(name) + ": expected a whole number, not negative; found " + std::to_string(field));
    if constexpr (requires { field.is_known(); })
      if (!field.is_known() && unknown) unknown = one_of(name, field.word(), field.all());
  }
  Result<void> negative{};
  Result<void> unknown{};
};

constexpr double kMany = 1e9;
constexpr double kMostThreads = 1024;

/// The checks of the parts that the recipes of all trainings have.
template <class Recipe>
std::vector<Result<void>> training_checks(const Recipe& r) {
  return {
      between("accumulation", r.batches.accumulation, 1, kMany),
      between("max-minutes", r.batches.max_minutes, 0, kMany),
      between("ring-depth", r.batches.ring_depth, 0, 1000),
      between("learning-rate", r.optimiser.learning_rate, 0, 10),
      between("final-rate", r.optimiser.final_rate, 0, 1),
      between("weight-decay", r.optimiser.weight_decay, 0, kMany),
      between("clip", r.optimiser.clip, 0, kMany),
      between("compute-threads", r.arithmetic.compute_threads, 0, kMostThreads),
      between("device-memory", r.arithmetic.device_memory, 0, kMany),
      between("log-steps", r.run.log_steps, 1, kMany),
      between("keep", r.run.keep, 1, kMany),
      between("epochs + max-steps", r.batches.epochs + r.batches.max_steps, 1, kMany),
  };
}

/// The first fault of a recipe: a negative whole number, else an unknown word, else the first of training_checks or of
/// its own checks.
template <class Recipe>
Result<void> first_fault(Recipe recipe, const std::vector<Result<void>>& own) {
  FieldFaults faults;
  visit_fields(recipe, faults);
  TRY(faults.negative);
  TRY(faults.unknown);
  for (const auto& checks : {training_checks(recipe), own})
    for (const auto& check : checks)
      if (!check) return check;
  return {};
}

}  // namespace tutti::value_checks
