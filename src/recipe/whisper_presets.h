#pragma once

#include <string>
#include <vector>

// Settings that a Whisper training may begin with, in place of its defaults. A preset is a recipe: what a recipe's file
// or a flag sets wins over it.
namespace tutti {

/// The names of the presets, for help and checks. Thread-safe.
std::vector<std::string> whisper_preset_names();

/// One of them as a recipe in TOML; a name that is none gives an empty text, which sets nothing. Thread-safe.
std::string whisper_preset(const std::string& name);

}  // namespace tutti
