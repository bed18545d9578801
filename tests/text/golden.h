#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include "base/json.h"

namespace tutti {

/// tests/data/text/<name>, made by tools/golden.
inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/tests/data/text/" + name);
  if (!file) throw std::runtime_error("tests/data/text/" + name + " is missing");
  return nlohmann::json::parse(file);
}

}  // namespace tutti
