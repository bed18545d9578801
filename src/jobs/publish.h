#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "jobs/store.h"

namespace tutti {

/// A file or an object of a bucket (jobs/object_outputs.h) that an attempt made.
struct OutputContent {
  std::filesystem::path path{};  // its public name, absolute; or s3://BUCKET/KEY
  std::string content{};
};

Bytes size_of(std::span<const OutputContent> outputs);

/// What becomes of files that a job did not write and that have the names of its outputs.
enum class Existing {
  keep,    // they stay, and the new text goes to NAME.new.EXT
  replace  // the user wants them replaced
};

/// Where outputs go.
struct PublishFolders {
  std::filesystem::path staging{};  // on the file system or in the bucket of the outputs: <output folder>/.tmp
  std::filesystem::path spare{};    // staged there where `staging` is full, read-only or away; empty: nowhere
  Existing existing = Existing::keep;
};

/// A user's file that was not replaced.
struct KeptFile {
  std::string path{};
  std::string new_text{};  // the file beside it
  bool operator==(const KeptFile&) const = default;
};
std::vector<KeptFile> kept_files(std::span<const JobOutput> outputs);
/// For people.
std::string kept_text(const KeptFile& kept);

/// What became of outputs that were to be published.
struct Published {
  bool held = false;  // false: the lease was lost, the job cancelled or requested again; what was staged is gone
  std::optional<Error> left_staged{};  // recorded and whole, but not in place: why, and where they are
  std::vector<KeptFile> kept{};
};

/// Exactly-once outputs: stage, commit, put in place. After an error nothing is committed and the job is still held:
/// fail it. What is left staged is put in place by a later sweep, or by put_outputs_in_place.
Result<Published> publish_outputs(JobQueue& queue, OutputRecords& records, const Lease& lease,
                                  std::span<const OutputContent> outputs, const AttemptUse& use,
                                  const PublishFolders& folders);

/// Puts the outputs of a done job in place, by its recorded result; returns which files were kept. Right again when
/// that has happened already.
Result<std::vector<KeptFile>> put_outputs_in_place(OutputRecords& records, JobId job, Existing existing);
/// The same where its recorded result is known.
Result<std::vector<KeptFile>> put_outputs_in_place(OutputRecords& records, JobId job,
                                                   std::span<const JobOutput> outputs, Existing existing);

/// A twin's outputs under this job's names: `paths[i]` becomes a copy of `same[i]`. Fault::missing when they are not
/// whole any more: then do the work.
Result<std::vector<OutputContent>> copy_of(std::span<const JobOutput> same,
                                           std::span<const std::filesystem::path> paths,
                                           ObjectOutputs* objects = nullptr);

/// Writes a page that belongs to no job, such as one over all of them, by the same rules. Only the output's `path` and
/// `kept` count.
Result<JobOutput> write_page(OutputRecords& records, const std::filesystem::path& page, std::string_view content,
                             Existing existing);

/// Gives an output of a done job, which is in place, another content: by its store it is the job's still. The file
/// keeps the old content, or has all of the new.
Result<void> rewrite_output(OutputRecords& records, JobId job, JobOutput output, std::string_view content);

// The single steps, for callers that need them apart.

/// Writes every output to <staging>/<job>.<attempt>.<token>.<n> and syncs it. A file on another file system than
/// `staging` is staged in .tmp beside its public name.
Result<std::vector<JobOutput>> stage_outputs(const Lease& lease, const std::filesystem::path& staging,
                                             std::span<const OutputContent> outputs, ObjectOutputs* objects = nullptr);
/// Renames a staged output to its public name, or to one beside a file there that is not the job's, and returns it as
/// it is recorded then; from another disk, and to a bucket, it is copied, and is there whole or not at all. Right again
/// when it has happened already. The caller syncs the folder.
Result<JobOutput> put_in_place(OutputRecords& records, JobId job, const JobOutput& output,
                               Existing existing = Existing::keep);
/// Removes the staged outputs of an attempt that lost; what is gone already is no matter.
void remove_staged(std::span<const JobOutput> outputs, ObjectOutputs* objects = nullptr);

/// Removes an empty staging folder at the end of a run.
void leave_staging(const std::filesystem::path& staging);

/// Whether recorded outputs are still there, each with its recorded content. Where a user's file was kept, that file
/// counts for it; not with Existing::replace.
bool outputs_are_there(std::span<const JobOutput> outputs, Existing existing = Existing::keep,
                       ObjectOutputs* objects = nullptr);

/// A done job as a store records it.
struct DoneJob {
  JobId job = 0;
  std::vector<JobOutput> outputs{};
};
/// Those whose outputs are not there any more, for Redo::missing; for Redo::missing_or_kept also those beside which a
/// user's file was kept.
std::vector<JobId> jobs_with_missing_outputs(std::span<const DoneJob> done, JobAdmin::Redo which,
                                             ObjectOutputs* objects);

}  // namespace tutti
