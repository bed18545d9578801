#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "settings/option_table.h"

namespace tutti {

/// The environment and the settings file of this process, for one command. The file is $TUTTI_CONFIG, else
/// $XDG_CONFIG_HOME/tutti/config.toml, else ~/.config/tutti/config.toml; only a file named by TUTTI_CONFIG must exist.
/// Errors name the file and the line.
Result<SettingSources> setting_sources(const std::string& command, const std::vector<std::string>& commands);

/// Where the settings file of this process is, whether it is there or not.
std::filesystem::path settings_file_path();

/// The section `[command]` of a settings file, flat. An unknown section is an error that names the nearest right one.
Result<std::map<std::string, std::string>> settings_section(const std::string& toml, const std::string& file_name,
                                                            const std::string& command,
                                                            const std::vector<std::string>& commands);

}  // namespace tutti
