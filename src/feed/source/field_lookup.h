#pragma once

#include <span>

#include "base/json.h"
#include "text/manifest/field_names.h"

namespace tutti {

/// The value under the first of `names` that an object has, in upper or lower case; null: it has none.
inline const nlohmann::json* find_field(const nlohmann::json& object, std::span<const char* const> names) {
  for (const char* name : names)
    if (const auto at = object.find(name); at != object.end()) return &*at;
  for (const char* name : names)
    for (auto at = object.begin(); at != object.end(); ++at)
      if (plain_field_name(at.key()) == name) return &at.value();
  return nullptr;
}

}  // namespace tutti
