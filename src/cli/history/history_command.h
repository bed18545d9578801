#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti history`: runs, devices and speeds over time, from the store.
int run_history(const std::vector<std::string>& arguments);

}  // namespace tutti
