#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jobs/store.h"

namespace tutti {

/// A file that an attempt made.
struct OutputContent {
  std::filesystem::path path{};  // its public name, absolute
  std::string content{};
};

/// What became of outputs that were to be published.
struct Published {
  bool held = false;                   // false: the lease was lost; what was staged is gone
  std::optional<Error> left_staged{};  // recorded and whole, but not in place: why, and where they are
};

/// Exactly-once outputs: stage, commit, put in place. `staging` is a folder on the file system of the outputs
/// (<output folder>/.tmp); where that is full, may not be written to, is away or fails, they are staged in `spare`
/// (empty: nowhere), on any local disk. After an error nothing is committed and the task is still held: fail it. What
/// is left staged is put in place by a later sweep, or by put_outputs_in_place.
Result<Published> publish_outputs(JobStore& store, const Lease& lease, const std::filesystem::path& staging,
                                  std::span<const OutputContent> outputs, const AttemptUse& use,
                                  const std::filesystem::path& spare = {});

/// The outputs of a done task, as its result says. Right again when that has happened already.
Result<void> put_outputs_in_place(JobStore& store, TaskId task);
/// The same where it is known what its result says.
Result<void> put_outputs_in_place(JobStore& store, TaskId task, std::span<const TaskOutput> outputs);

/// A twin's outputs under this task's names: `paths[i]` becomes a copy of `same[i]`. Fault::missing when they are not
/// whole any more: then do the work.
Result<std::vector<OutputContent>> copy_of(std::span<const TaskOutput> same,
                                           std::span<const std::filesystem::path> paths);

// The steps, for whoever needs them apart.

/// Writes every output to <staging>/<task>.<attempt>.<token>.<n> and syncs it. An output on another file system than
/// `staging` is staged in .tmp beside its public name.
Result<std::vector<TaskOutput>> stage_outputs(const Lease& lease, const std::filesystem::path& staging,
                                              std::span<const OutputContent> outputs);
/// Renames a staged output to its public name; from another disk it is copied, and is there whole or not at all. Right
/// again when it has happened already. The caller syncs the folder.
Result<void> put_in_place(const TaskOutput& output);
/// Of an attempt that lost; what is gone already is no matter.
void remove_staged(std::span<const TaskOutput> outputs);

/// Removes an empty staging folder at the end of a run.
void leave_staging(const std::filesystem::path& staging);

/// Whether recorded outputs are still there: each file exists with its recorded size.
bool outputs_are_there(std::span<const TaskOutput> outputs);

}  // namespace tutti
