#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings/values.h"

namespace tutti {

/// Every field's value as text, by name.
class FieldValues {
 public:
  explicit FieldValues(std::map<std::string, std::string>& into) : into_(into) {}
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    into_[name] = show_value(field);
  }

 private:
  std::map<std::string, std::string>& into_;
};

/// The key of every field.
template <class Recipe>
std::vector<std::string> names_of(Recipe recipe) {
  std::map<std::string, std::string> values;
  visit_fields(recipe, FieldValues(values));
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

}  // namespace tutti
