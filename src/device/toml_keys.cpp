#include "device/toml_keys.h"

#include <cmath>
#include <sstream>
#include <vector>

#include "base/strings.h"

namespace tutti {

TakeToml positive(double& field) {
  return [&field](const toml::node& node) {
    const auto value = node.value<double>();
    if (!value || !std::isfinite(*value) || *value <= 0) return false;
    field = *value;
    return true;
  };
}

TakeToml text_into(std::string& field) {
  return [&field](const toml::node& node) {
    const auto value = node.value_exact<std::string>();
    if (value) field = *value;
    return value.has_value();
  };
}

Result<void> take_table(const toml::table& table, const TomlKeys& keys, const std::string& where,
                        const std::string& described) {
  for (const auto& [key, node] : table) {
    const auto known = keys.find(key.str());
    if (known == keys.end()) {
      std::vector<std::string> names;
      for (const auto& [name, ignored] : keys) names.push_back(name);
      const std::string nearest = nearest_name(key.str(), names);
      return fail(Fault::usage, where + ": no such key '" + std::string(key.str()) + "'",
                  nearest.empty() ? "" : "Did you mean '" + nearest + "'?");
    }
    if (known->second(node)) continue;
    std::ostringstream found;
    node.visit([&](const auto& value) { found << value; });
    return fail(Fault::usage, where + ": '" + std::string(key.str()) + "' cannot be " + found.str(), described);
  }
  return {};
}

}  // namespace tutti
