#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "text/manifest/write.h"

namespace tutti {

/// What a manifest is to be made of: inputs, or a query on a database.
struct ManifestRequest {
  std::vector<std::string> inputs{};
  std::filesystem::path output{};
  std::filesystem::path sqlite{};
  std::string postgres{};
  std::string query{};
  bool no_durations = false;
  bool all_files = false;
};

/// What a manifest is made of, and what is worth reporting beside it.
struct GatheredManifest {
  std::vector<ManifestAsset> assets{};
  double seconds = 0;
  std::int64_t unknown = 0;   // without a length
  std::int64_t problems = 0;  // reported
  std::string folders{};      // what was left out of them; empty: nothing
};

/// Takes what is wrong with one of the recordings, one line for people.
using OnProblem = std::function<void(const std::string& problem)>;

/// Looks for the recordings, newest first. `files` learns all that is read, so that the manifest is not written onto
/// it. Fault::missing where there is none.
Result<GatheredManifest> gather_manifest(const ManifestRequest& request, OutputOwnership& files,
                                         const OnProblem& on_problem);

/// The manifest itself, made now.
std::string manifest_of(const GatheredManifest& gathered);

}  // namespace tutti
