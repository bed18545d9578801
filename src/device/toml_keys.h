#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "base/toml.h"

namespace tutti {

// Files of Tutti's own in TOML are read strictly: by a table of the keys that there may be. Pure.

/// Puts a value into its field; false: it is not of that kind or out of range.
using TakeToml = std::function<bool(const toml::node&)>;
using TomlKeys = std::map<std::string, TakeToml, std::less<>>;

/// A finite number above 0.
TakeToml positive(double& field);

/// Any text.
TakeToml text_into(std::string& field);

/// A number from `least` to `most`, which `into` is called with.
template <class Into>
TakeToml within(double least, double most, Into into) {
  return [=](const toml::node& node) {
    const auto value = node.value<double>();
    if (!value || !(*value >= least && *value <= most)) return false;
    into(*value);
    return true;
  };
}

/// Takes every key of `table`. Fault::usage names `where`, the key, its nearest known name or its value, and for a
/// value that was not taken ends with `described`: where the file's form is described.
Result<void> take_table(const toml::table& table, const TomlKeys& keys, const std::string& where,
                        const std::string& described);

}  // namespace tutti
