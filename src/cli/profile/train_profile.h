#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti profile train`: a Whisper training of so many steps behind its warm-up, in a folder of its own that goes
/// with it, with field note 002's flags; prints the note's table and named rules, then the profile. `arguments`: the
/// words behind "train". Returns the exit code, as profile_command does.
int run_train_profile(const std::vector<std::string>& arguments);

}  // namespace tutti
