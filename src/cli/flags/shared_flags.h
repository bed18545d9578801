#pragma once

#include <filesystem>
#include <string>

#include "cli/settings/option_table.h"

namespace tutti {

// Flags that several commands have in the same words.

/// -o and -f of a command that writes transcripts.
void add_outputs(OptionTable& table, std::filesystem::path& folder, std::string& format);

/// --compute-type, which takes the name of any. `meaning`: what it is for there.
void add_compute_type(OptionTable& table, std::string& type, std::string meaning);

}  // namespace tutti
