#include "jobs/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/new_file.h"
#include "base/sha256.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStagingName = ".tmp";

bool is_whole(const fs::path& path, const JobOutput& output) {
  return occupant_of(path, {{output.sha256, output.bytes}}) == Occupant::known;
}

bool on_one_disk(const fs::path& a, const fs::path& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev;
}

std::int64_t modified_ns(const struct stat& facts) {
  return facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

/// Files that are written first and synced together: the file system then commits once for nearly all of them.
class Written {
 public:
  Result<void> write(const fs::path& path, std::string_view content) {
    OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) return fail_errno(path.string(), "could not be created");
    if (auto written = write_all(file.get(), std::as_bytes(std::span(content)), path.string()); !written)
      return written;
    files_.emplace_back(path, std::move(file));
    return {};
  }

  Result<void> sync() const {
    for (const auto& [path, file] : files_)
      if (::fsync(file.get()) != 0) return fail_errno(path.string(), "could not be synced");
    return {};
  }

  /// By the file's number in the order of writing.
  std::int64_t time_of(std::size_t number) const {
    struct stat facts {};
    return ::fstat(files_[number].second.get(), &facts) == 0 ? modified_ns(facts) : 0;
  }

 private:
  std::vector<std::pair<fs::path, OwnedFd>> files_{};
};

Result<void> sync_folders(const std::set<fs::path>& folders) {
  for (const auto& folder : folders)
    if (auto synced = sync_folder(folder); !synced) return synced;
  return {};
}

/// Writes every output to the folder that `folder_for` names, all or none, and syncs them.
template <class FolderFor>
Result<std::vector<JobOutput>> stage_each(const Lease& lease, std::span<const OutputContent> outputs,
                                          FolderFor folder_for) {
  std::vector<JobOutput> staged;
  Written files;
  std::set<fs::path> folders;
  const auto stage = [&](const OutputContent& output) -> Result<void> {
    const Result<fs::path> here = folder_for(output);
    if (!here) return tl::unexpected(here.error());
    if (auto made = make_folders(*here); !made) return made;
    const std::string name = std::to_string(lease.key.job) + "." + std::to_string(lease.attempt) + "." +
                             lease.key.token + "." + std::to_string(staged.size());
    staged.push_back({output.path.string(), (*here / name).string(), sha256_of(output.content),
                      static_cast<std::int64_t>(output.content.size())});
    folders.insert(*here);
    return files.write(*here / name, output.content);
  };
  Result<void> done;
  for (const auto& output : outputs)
    if (done) done = stage(output);
  if (done) done = files.sync();
  if (done) done = sync_folders(folders);
  for (std::size_t i = 0; done && i < staged.size(); ++i) staged[i].modified_ns = files.time_of(i);
  if (done) return staged;
  remove_staged(staged);
  return tl::unexpected(done.error());
}

enum class Placed { yes, taken, gone };  // gone: there is no staged copy

/// `replace`: also over what has the name.
std::error_code renamed(const fs::path& from, const fs::path& to, bool replace) {
  if (!replace) return rename_if_free(from, to);
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return {errno, std::generic_category()};
}

/// From a disk that a rename does not reach: by a copy beside the target.
Result<std::error_code> carried_over(const fs::path& staged, const fs::path& target, bool replace) {
  const auto content = read_file(staged);
  if (!content && content.error().fault == Fault::missing)
    return std::make_error_code(std::errc::no_such_file_or_directory);
  if (!content) return tl::unexpected(content.error());
  const auto copy = write_beside(target, *content);
  if (!copy) return tl::unexpected(copy.error());
  const auto why = renamed(*copy, target, replace);
  ::unlink(why ? copy->c_str() : staged.c_str());
  return why;
}

Result<Placed> move_to_target(const fs::path& staged, const fs::path& target, bool replace) {
  auto why = Result<std::error_code>(renamed(staged, target, replace));
  if (*why == std::errc::cross_device_link) why = carried_over(staged, target, replace);
  if (!why) return tl::unexpected(why.error());
  if (!*why) return Placed::yes;
  if (!replace && *why == std::errc::file_exists) return Placed::taken;
  if (*why == std::errc::no_such_file_or_directory) return Placed::gone;
  return tl::unexpected(system_error(target.string(), "could not be put in place", why->value()));
}

/// As this process knows it, or as another one has recorded meanwhile: then that one has put it there.
Result<JobOutput> placed_before(OutputRecords& records, JobId job, const JobOutput& output) {
  if (is_whole(output.path, output)) return output;
  const auto now = records.outputs(job);
  if (!now) return tl::unexpected(now.error());
  for (const JobOutput& other : *now)
    if (other.staged == output.staged && is_whole(other.path, other)) return other;
  return fail(Fault::missing, output.path + ": neither it nor its staged copy is what was recorded");
}

}  // namespace

Result<std::vector<JobOutput>> stage_outputs(const Lease& lease, const fs::path& staging,
                                             std::span<const OutputContent> outputs) {
  return stage_each(lease, outputs, [&](const OutputContent& output) -> Result<fs::path> {
    const fs::path folder = output.path.parent_path();
    if (auto made = make_folders(folder); !made) return tl::unexpected(made.error());
    if (auto made = make_folders(staging); !made) return tl::unexpected(made.error());
    return on_one_disk(staging, folder) ? staging : folder / kStagingName;
  });
}

namespace {

/// Where an output goes.
struct Target {
  fs::path path{};
  bool replace = false;  // what is there
};

/// The name itself, or the first beside it that is free or holds what the job wrote.
Result<Target> target_for(OutputRecords& records, JobId job, const fs::path& name, Existing existing) {
  std::error_code ignored;
  std::optional<std::vector<KnownContent>> known;  // looked up where a name is taken, which hardly ever is
  for (int number = 0;; ++number) {
    const fs::path path = number == 0 ? name : name_beside(name, number);
    if (occupant_of(path, {}) == Occupant::none) return Target{path, false};
    // A folder is replaced by no file: the error names it.
    if (fs::is_directory(path, ignored) || (number == 0 && existing == Existing::replace)) return Target{path, true};
    if (!known) {
      auto written = records.written(job);
      if (!written) return tl::unexpected(written.error());
      known = std::move(*written);
    }
    if (occupant_of(path, *known) == Occupant::known) return Target{path, true};
  }
}

}  // namespace

Result<JobOutput> put_in_place(OutputRecords& records, JobId job, const JobOutput& output, Existing existing) {
  std::error_code why;
  if (!fs::exists(output.staged, why)) return placed_before(records, job, output);
  const fs::path name = output.kept.empty() ? output.path : output.kept;
  if (auto made = make_folders(name.parent_path()); !made)  // what is staged on another disk outlasts it
    return tl::unexpected(made.error());
  JobOutput placed = output;
  for (;;) {
    const auto target = target_for(records, job, name, existing);
    if (!target) return tl::unexpected(target.error());
    if (target->path != fs::path(placed.path)) {
      placed.path = target->path;
      placed.kept = target->path == name ? "" : name.string();
      if (auto moved = records.move_output(job, placed); !moved) return tl::unexpected(moved.error());
    }
    const auto done = move_to_target(output.staged, target->path, target->replace);
    if (!done) return tl::unexpected(done.error());
    if (*done == Placed::yes) return placed;
    if (*done == Placed::gone) return placed_before(records, job, placed);
  }
}

Result<JobOutput> write_page(OutputRecords& records, const fs::path& page, std::string_view content,
                             Existing existing) {
  constexpr JobId kNone = 0;
  if (auto made = make_folders(folder_of(page)); !made) return tl::unexpected(made.error());
  const KnownContent known{sha256_of(content), static_cast<std::int64_t>(content.size())};
  if (auto recorded = records.record_written(kNone, known); !recorded) return tl::unexpected(recorded.error());
  const auto staged = write_beside(page, content);
  if (!staged) return tl::unexpected(staged.error());
  for (;;) {
    const auto target = target_for(records, kNone, page, existing);
    const auto done = target ? move_to_target(*staged, target->path, target->replace) : tl::unexpected(target.error());
    if (!done) ::unlink(staged->c_str());
    if (!done) return tl::unexpected(done.error());
    if (*done == Placed::taken) continue;
    if (*done == Placed::gone)
      return fail(Fault::missing, staged->string() + ": it was removed before it could be put in place");
    if (auto synced = sync_folder(folder_of(page)); !synced) return tl::unexpected(synced.error());
    return JobOutput{.path = target->path, .kept = target->path == page ? "" : page.string()};
  }
}

Result<void> rewrite_output(OutputRecords& records, JobId job, JobOutput output, std::string_view content) {
  const KnownContent known{sha256_of(content), static_cast<std::int64_t>(content.size())};
  if (auto recorded = records.record_written(job, known); !recorded) return recorded;
  if (auto written = rewrite_file(output.path, content); !written) return written;
  struct stat facts {};
  output.sha256 = known.sha256;
  output.bytes = known.bytes;
  output.modified_ns = ::stat(output.path.c_str(), &facts) == 0 ? modified_ns(facts) : 0;
  return records.move_output(job, output);
}

Bytes size_of(std::span<const OutputContent> outputs) {
  Bytes bytes{};
  for (const auto& output : outputs) bytes.value += static_cast<std::int64_t>(output.content.size());
  return bytes;
}

std::vector<KeptFile> kept_files(std::span<const JobOutput> outputs) {
  std::vector<KeptFile> kept;
  for (const auto& output : outputs)
    if (!output.kept.empty()) kept.push_back({output.kept, output.path});
  return kept;
}

void remove_staged(std::span<const JobOutput> outputs) {
  for (const auto& output : outputs) ::unlink(output.staged.c_str());
}

void leave_staging(const fs::path& staging) {
  ::rmdir(staging.c_str());
}

namespace {

/// Not where a limit on a file's size refused it: that holds for every folder.
bool has_better_elsewhere(const Error& error, const fs::path& staging, std::span<const OutputContent> outputs) {
  if (error.fault != Fault::refused) return true;
  return why_not_writable(staging) || std::ranges::any_of(outputs, [](const OutputContent& output) {
           return bool(why_not_writable(output.path.parent_path()));
         });
}

/// Whether a result is the job's still. This process may have been paused after it was recorded, and the job requested
/// again meanwhile, and done by another one. Where the store does not answer, a sweep is to find the result.
bool is_recorded(OutputRecords& records, JobId job, std::span<const JobOutput> staged) {
  const auto now = records.outputs(job);
  if (!now || staged.empty()) return true;
  return std::ranges::find(*now, staged.front().staged, &JobOutput::staged) != now->end();
}

}  // namespace

std::string kept_text(const KeptFile& kept) {
  return kept.path + " is not as this store wrote it, and is kept; the new text is in " + kept.new_text;
}

// The store knows it when they would last through a power cut.
Result<std::vector<KeptFile>> put_outputs_in_place(OutputRecords& records, JobId job,
                                                   std::span<const JobOutput> outputs, Existing existing) {
  std::set<fs::path> folders;
  std::vector<JobOutput> placed;
  for (const auto& output : outputs) {
    auto one = put_in_place(records, job, output, existing);
    if (!one) {
      std::error_code why;
      if (!fs::exists(output.staged, why)) return tl::unexpected(one.error());
      Error& error = one.error();
      error.hint = "The transcript is whole in " + output.staged + "; the next run tries it again";
      if (error.fault == Fault::missing)
        error.fault = Fault::unavailable;  // what is missing is its folder: the result
                                           // is there
      return tl::unexpected(error);
    }
    folders.insert(fs::path(one->path).parent_path());
    placed.push_back(std::move(*one));
  }
  if (auto synced = sync_folders(folders); !synced) return tl::unexpected(synced.error());
  if (!outputs.empty())
    if (auto marked = records.mark_published(job, outputs.front().staged); !marked)
      return tl::unexpected(marked.error());
  return kept_files(placed);
}

Result<Published> publish_outputs(JobQueue& queue, OutputRecords& records, const Lease& lease,
                                  std::span<const OutputContent> outputs, const AttemptUse& use,
                                  const PublishFolders& folders) {
  auto staged = stage_outputs(lease, folders.staging, outputs);
  if (!staged && !folders.spare.empty() && has_better_elsewhere(staged.error(), folders.staging, outputs))
    if (auto kept = stage_each(lease, outputs, [&](const auto&) { return Result<fs::path>(folders.spare); }))
      staged = std::move(kept);
  if (!staged) return tl::unexpected(staged.error());
  const auto held = queue.complete(lease.key, *staged, use);
  if (!held || !*held) remove_staged(*staged);
  if (!held) return tl::unexpected(held.error());
  if (!*held) return Published{};
  if (!is_recorded(records, lease.key.job, *staged)) {
    remove_staged(*staged);
    return Published{};
  }
  auto placed = put_outputs_in_place(records, lease.key.job, *staged, folders.existing);
  if (!placed) return Published{.held = true, .left_staged = placed.error()};
  return Published{.held = true, .kept = std::move(*placed)};
}

Result<std::vector<KeptFile>> put_outputs_in_place(OutputRecords& records, JobId job, Existing existing) {
  const auto outputs = records.outputs(job);
  if (!outputs) return tl::unexpected(outputs.error());
  if (outputs->empty()) return fail(Fault::missing, "its result is not recorded any more: it was requested again");
  return put_outputs_in_place(records, job, *outputs, existing);
}

Result<std::vector<OutputContent>> copy_of(std::span<const JobOutput> same, std::span<const fs::path> paths) {
  if (same.size() != paths.size())
    return fail(Fault::missing,
                "the twin has " + std::to_string(same.size()) + " outputs, expected " + std::to_string(paths.size()));
  std::vector<OutputContent> copies;
  for (std::size_t i = 0; i < same.size(); ++i) {
    auto content = read_file(same[i].path);
    if (!content || sha256_of(*content) != same[i].sha256) content = read_file(same[i].staged);
    if (!content || sha256_of(*content) != same[i].sha256)
      return fail(Fault::missing, same[i].path + ": not what was recorded");
    copies.push_back({paths[i], std::move(*content)});
  }
  return copies;
}

namespace {

/// Its content is read only where size and time do not tell already. Those of earlier versions have no time recorded.
bool is_unchanged(const JobOutput& output) {
  struct stat facts {};
  if (::stat(output.path.c_str(), &facts) != 0 || facts.st_size != output.bytes) return false;
  return output.modified_ns == 0 || modified_ns(facts) == output.modified_ns || is_whole(output.path, output);
}

}  // namespace

bool outputs_are_there(std::span<const JobOutput> outputs, Existing existing) {
  return std::ranges::all_of(outputs, [&](const JobOutput& output) {
    if (output.kept.empty()) return is_unchanged(output);
    return existing == Existing::keep && (is_there(output.kept) || is_unchanged(output));
  });
}

std::vector<JobId> jobs_with_missing_outputs(std::span<const DoneJob> done, JobAdmin::Redo which) {
  const Existing existing = which == JobAdmin::Redo::missing_or_kept ? Existing::replace : Existing::keep;
  std::vector<JobId> missing;
  for (const DoneJob& each : done)
    if (!outputs_are_there(each.outputs, existing)) missing.push_back(each.job);
  return missing;
}

}  // namespace tutti
