#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The flags of a training with the names of Hugging Face's trainer and its scripts (--num_train_epochs,
/// --logging_steps, --gradient_accumulation_steps, --bf16, ...) put into ours; all other words as they are. Pure.
/// Fault::usage for names that set two values of one setting, --bf16 and --tf32: one would silently win.
Result<std::vector<std::string>> in_our_names(const std::vector<std::string>& arguments);

}  // namespace tutti
