#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "advise/pipeline_model.h"
#include "base/error.h"

namespace tutti {

/// A pipeline as somebody describes it in TOML (docs/profile.md), its items drawn.
struct DescribedPipeline {
  PipelineModel pipeline{};
  Seconds length{4};  ///< of a run
};

/// Fault::usage names the file with its line, the stage and the key that is not valid, and the nearest name where one is
/// not known.
Result<DescribedPipeline> parse_pipeline(std::string_view toml, const std::string& file_name);

/// The same, of a file; Fault::missing where it cannot be read.
Result<DescribedPipeline> read_pipeline(const std::filesystem::path& file);

}  // namespace tutti
