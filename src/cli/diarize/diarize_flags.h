#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "diarize/diarize_options.h"
#include "settings/option_table.h"

namespace tutti {

/// The flags that say how speakers are found, for every command that finds some.
struct DiarizeFlags {
  bool diarize = false;
  std::optional<std::int32_t> num_speakers{};
  std::optional<std::int32_t> min_speakers{};
  std::optional<std::int32_t> max_speakers{};
  std::string speakers{};  // NAME=CLIP, separated by commas
  std::string from = "voices";
  std::string quality = "auto";
  std::filesystem::path save_embeddings{};
};

/// Binds every field to its flag; those but --diarize where the command finds speakers in any case.
void add_diarize(OptionTable& table, DiarizeFlags& flags, bool is_optional = true);

/// None: speakers are not to be found. Finds the networks' weights. Errors name the flag that is not valid, the clip
/// that is not there, or what to fetch and from where.
Result<std::optional<DiarizeOptions>> diarize_options(const DiarizeFlags& flags);

/// Fault::usage where RTTM is requested without speakers to write.
Result<void> expect_speakers_for(const std::string& output_format, const DiarizeFlags& flags);

}  // namespace tutti
