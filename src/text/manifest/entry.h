#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/job_class.h"
#include "base/units.h"

namespace tutti {

/// One recording that a list, table or manifest names.
struct ManifestEntry {
  std::string path{};  // path of the audio; relative ones are as they were written
  std::string id{};    // a UUID is in lower case with hyphens, anything else is kept
  std::string name{};  // for people; empty: the file's
  std::optional<Seconds> duration{};
  std::optional<JobClass> job_class{};
  int priority = 0;
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> deadline{};  // its result is wanted by then
  std::string extra = "{}";  // the fields that Tutti does not know, as a JSON object in their order
  std::string origin{};      // "list.csv:12", for messages
};

/// Takes what a reader finds, in order.
struct ManifestSink {
  /// False stops the reader.
  std::function<bool(ManifestEntry&& entry)> entry{};
  /// A record that cannot be used; the others go on. Names file, line and field.
  std::function<void(Error&& error)> problem{};
};

/// Which assets of a manifest (note 000) are selected, and where their audio is.
struct ManifestRules {
  /// The path of an asset's audio, with its fields in braces: "{folder_path}/{file_name}". Empty: a field "path" (or
  /// one of its other names), else folder_path and file_name, else folder_path and name.
  std::string path_template{};
  std::string asset_type = "Audio";                        // type of an asset that is taken; empty: any
  std::string excluded_folder = "Resources/To Be Sorted";  // folder_path of those left out; empty: none
  bool deleted = false;                                    // take those with a deleted_at
};

/// What became of the records of one input.
struct ManifestTally {
  std::int64_t taken = 0;
  std::int64_t unusable = 0;                               // reported to ManifestSink::problem
  std::int64_t other_type = 0, excluded = 0, deleted = 0;  // left out by the rules
};

}  // namespace tutti
