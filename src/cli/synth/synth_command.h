#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti synth morse`: writes a corpus of Morse recordings with exact labels.
int run_synth(const std::vector<std::string>& arguments);

}  // namespace tutti
