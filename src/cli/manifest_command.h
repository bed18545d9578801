#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti manifest`: a manifest as note 000 has it, from folders or from a database.
int run_manifest(const std::vector<std::string>& arguments);

}  // namespace tutti
