#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "jobs/job.h"

namespace tutti {

/// Outputs that are objects of buckets and no files, by their paths: "s3://bucket/talks/monday.txt". Their folders are
/// what keys begin with. Errors: Fault::unavailable where the service does not answer. Thread-safe.
class ObjectOutputs {
 public:
  virtual ~ObjectOutputs() = default;

  struct Facts {
    std::int64_t bytes = 0;
    std::int64_t version = 0;  // as JobOutput::modified_ns: it is another one once the content is; 0: not known
  };

  /// What is at a path; none: nothing.
  virtual Result<std::optional<Facts>> look(const std::string& path) = 0;
  /// The same for many paths of a folder: what others have changed within the last minute may be missing.
  virtual Result<std::optional<Facts>> look_at_list(const std::string& path) = 0;
  /// Fault::missing: it is not there.
  virtual Result<std::string> read(const std::string& path) = 0;
  /// Whole or not at all. None: something has the name, and is not to be replaced.
  virtual Result<std::optional<Facts>> write(const std::string& path, std::string_view content, bool replace) = 0;
  /// What is gone already is no matter.
  virtual Result<void> remove(const std::string& path) = 0;

  struct Listed {
    std::string path{};
    std::chrono::system_clock::time_point modified{};
  };
  /// All objects below a folder.
  virtual Result<std::vector<Listed>> list(const std::string& folder) = 0;

  /// Whether outputs can be written below a folder: writes one, and removes it. To be found out before the work.
  virtual Result<void> expect_writable(const std::string& folder) = 0;

  /// What was to be written is kept by the caller, and is to be written again: returns after a pause. False: not this
  /// error, or `close` was called.
  virtual bool await_another_try(const Error& error) = 0;
  /// No call waits any more.
  virtual void close() = 0;
};

/// Whether an output is an object of a bucket, by its path.
bool is_object(const std::filesystem::path& path);

/// Fault::unsupported where there is no way to buckets.
Result<ObjectOutputs*> expect_objects(ObjectOutputs* objects, const std::filesystem::path& path);

// The same for files and objects. `objects` may be null where there are files alone.

Result<std::string> read_output(ObjectOutputs* objects, const std::filesystem::path& path);
Result<Occupant> occupant_of_output(ObjectOutputs* objects, const std::filesystem::path& path,
                                    const std::vector<KnownContent>& known);
/// Whether at `path` is what was recorded of the output.
Result<bool> is_whole_output(ObjectOutputs* objects, const std::filesystem::path& path, const JobOutput& output);

}  // namespace tutti
