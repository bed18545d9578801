#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>
#include <type_traits>

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

}  // namespace tutti::value_checks
