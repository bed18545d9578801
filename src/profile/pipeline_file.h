#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "advise/pipeline_model.h"
#include "base/error.h"

namespace tutti {

/// A pipeline as a TOML file describes it (docs/profile.md), its items drawn.
/// Plain data.
struct DescribedPipeline {
  PipelineModel pipeline{};
  Seconds length{4};  ///< length of a run
};

/// Top keys: cores (this machine's), seconds (4), [[stage]]. Keys of a stage: name, kind (cpu, io, device), mean_ms;
/// threads (1), cv (0), stall_share (0), stall_ms (0), queue (8). The stages are in the order in which an item passes
/// them. Whole numbers are valid wherever numbers are.
///
/// Every stage's items are drawn here, by its name: a stage has the same ones whatever else the file holds.
///
/// Fault::usage names the file with its line, the stage and the key that is not valid, and the nearest name where one
/// is not known.
Result<DescribedPipeline> parse_pipeline(std::string_view toml, const std::string& file_name);

/// The same, of a file on disk, named in errors as `file` is; Fault::missing where it cannot be read.
Result<DescribedPipeline> read_pipeline(const std::filesystem::path& file);

}  // namespace tutti
