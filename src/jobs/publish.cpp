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
#include "base/log.h"
#include "base/new_file.h"
#include "base/sha256.h"
#include "base/try.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStagingName = ".tmp";

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

/// Writes every output to the folder that `folder_for` names, all or none, and syncs them. All of these folders are in
/// buckets, or none is.
template <class FolderFor>
Result<std::vector<JobOutput>> stage_each(const Lease& lease, std::span<const OutputContent> outputs,
                                          ObjectOutputs* objects, FolderFor folder_for) {
  std::vector<JobOutput> staged;
  Written files;
  std::set<fs::path> folders;
  const auto stage = [&](const OutputContent& output) -> Result<void> {
    const fs::path here = TRY(folder_for(output));
    if (!is_object(here)) TRY(make_folders(here));
    const std::string name = std::to_string(lease.key.job) + "." + std::to_string(lease.attempt) + "." +
                             lease.key.token + "." + std::to_string(staged.size());
    staged.push_back({output.path.string(), (here / name).string(), sha256_of(output.content),
                      static_cast<std::int64_t>(output.content.size())});
    if (is_object(here)) {
      auto* reached = TRY(expect_objects(objects, here));
      const auto written = TRY(reached->write(here / name, output.content, /*replace=*/true));
      staged.back().modified_ns = written ? written->version : 0;
      return {};
    }
    folders.insert(here);
    return files.write(here / name, output.content);
  };
  Result<void> done;
  for (const auto& output : outputs)
    if (done) done = stage(output);
  if (done) done = files.sync();
  if (done) done = sync_folders(folders);
  for (std::size_t i = 0; done && !folders.empty() && i < staged.size(); ++i) staged[i].modified_ns = files.time_of(i);
  if (done) return staged;
  remove_staged(staged, objects);
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
  const auto copy = TRY(write_beside(target, *content));
  const auto why = renamed(copy, target, replace);
  ::unlink(why ? copy.c_str() : staged.c_str());
  return why;
}

Result<Placed> move_to_target(const fs::path& staged, const fs::path& target, bool replace) {
  auto why = Result<std::error_code>(renamed(staged, target, replace));
  if (*why == std::errc::cross_device_link) why = carried_over(staged, target, replace);
  TRY(why);
  if (!*why) return Placed::yes;
  if (!replace && *why == std::errc::file_exists) return Placed::taken;
  if (*why == std::errc::no_such_file_or_directory) return Placed::gone;
  return tl::unexpected(system_error(target.string(), "could not be put in place", why->value()));
}

/// To an object, by a copy: that is whole before the staged one goes.
Result<Placed> copy_to_object(OutputRecords& records, JobId job, JobOutput& output, bool replace) {
  auto* objects = TRY(expect_objects(records.objects(), output.path));
  const auto content = read_output(objects, output.staged);
  if (!content && content.error().fault == Fault::missing) return Placed::gone;
  if (!content) return tl::unexpected(content.error());
  const auto written = TRY(objects->write(output.path, *content, replace));
  if (!written) return Placed::taken;
  if (written->version != output.modified_ns) {
    output.modified_ns = written->version;
    TRY(records.move_output(job, output));
  }
  remove_staged({&output, 1}, objects);
  return Placed::yes;
}

/// As this process knows it, or as another one has recorded meanwhile: then that one has put it there.
Result<JobOutput> placed_before(OutputRecords& records, JobId job, const JobOutput& output) {
  const bool is_here = TRY(is_whole_output(records.objects(), output.path, output));
  if (is_here) return output;
  const auto now = TRY(records.outputs(job));
  for (const JobOutput& other : now)
    if (other.staged == output.staged && is_whole_output(records.objects(), other.path, other).value_or(false))
      return other;
  return fail(Fault::missing, output.path + ": neither it nor its staged copy is what was recorded");
}

}  // namespace

Result<std::vector<JobOutput>> stage_outputs(const Lease& lease, const fs::path& staging,
                                             std::span<const OutputContent> outputs, ObjectOutputs* objects) {
  return stage_each(lease, outputs, objects, [&](const OutputContent& output) -> Result<fs::path> {
    if (is_object(output.path)) return staging;
    const fs::path folder = output.path.parent_path();
    TRY(make_folders(folder));
    TRY(make_folders(staging));
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
    const auto first = TRY(occupant_of_output(records.objects(), path, {}));
    if (first == Occupant::none) return Target{path, false};
    // A folder is replaced by no file: the error names it.
    const bool is_folder = !is_object(path) && fs::is_directory(path, ignored);
    if (is_folder || (number == 0 && existing == Existing::replace)) return Target{path, true};
    if (!known) {
      known = TRY(records.written(job));
    }
    const auto occupant = TRY(occupant_of_output(records.objects(), path, *known));
    if (occupant == Occupant::known) return Target{path, true};
  }
}

}  // namespace

Result<JobOutput> put_in_place(OutputRecords& records, JobId job, const JobOutput& output, Existing existing) {
  const fs::path name = output.kept.empty() ? output.path : output.kept;
  const bool is_in_bucket = is_object(name);
  std::error_code why;
  if (!is_in_bucket && !fs::exists(output.staged, why)) return placed_before(records, job, output);
  if (!is_in_bucket) TRY(make_folders(name.parent_path()));
  JobOutput placed = output;
  bool is_first = is_in_bucket && output.kept.empty();
  for (;; is_first = false) {
    // Writing an object shows whether there is one: nothing needs to be looked up before.
    const auto target =
        TRY(is_first ? Target{name, existing == Existing::replace} : target_for(records, job, name, existing));
    if (target.path != fs::path(placed.path)) {
      placed.path = target.path;
      placed.kept = target.path == name ? "" : name.string();
      TRY(records.move_output(job, placed));
    }
    const auto done = TRY(is_in_bucket ? copy_to_object(records, job, placed, target.replace)
                                       : move_to_target(output.staged, target.path, target.replace));
    if (done == Placed::yes) return placed;
    if (done == Placed::gone) return placed_before(records, job, placed);
  }
}

namespace {

Result<JobOutput> write_object_page(OutputRecords& records, const fs::path& page, std::string_view content,
                                    Existing existing) {
  auto* objects = TRY(expect_objects(records.objects(), page));
  for (;;) {
    const auto target = TRY(target_for(records, 0, page, existing));
    const auto written = TRY(objects->write(target.path, content, target.replace));
    if (written) return JobOutput{.path = target.path, .kept = target.path == page ? "" : page.string()};
  }
}

}  // namespace

Result<JobOutput> write_page(OutputRecords& records, const fs::path& page, std::string_view content,
                             Existing existing) {
  constexpr JobId kNone = 0;
  if (!is_object(page)) TRY(make_folders(folder_of(page)));
  const KnownContent known{sha256_of(content), static_cast<std::int64_t>(content.size())};
  TRY(records.record_written(kNone, known));
  if (is_object(page)) return write_object_page(records, page, content, existing);
  const auto staged = TRY(write_beside(page, content));
  for (;;) {
    const auto target = target_for(records, kNone, page, existing);
    const auto done = target ? move_to_target(staged, target->path, target->replace) : tl::unexpected(target.error());
    if (!done) ::unlink(staged.c_str());
    if (!done) return tl::unexpected(done.error());
    if (*done == Placed::taken) continue;
    if (*done == Placed::gone)
      return fail(Fault::missing, staged.string() + ": it was removed before it could be put in place");
    TRY(sync_folder(folder_of(page)));
    return JobOutput{.path = target->path, .kept = target->path == page ? "" : page.string()};
  }
}

Result<void> rewrite_output(OutputRecords& records, JobId job, JobOutput output, std::string_view content) {
  const KnownContent known{sha256_of(content), static_cast<std::int64_t>(content.size())};
  if (auto recorded = records.record_written(job, known); !recorded) return recorded;
  output.sha256 = known.sha256;
  output.bytes = known.bytes;
  if (is_object(output.path)) {
    auto* objects = TRY(expect_objects(records.objects(), output.path));
    const auto written = TRY(objects->write(output.path, content, /*replace=*/true));
    output.modified_ns = written ? written->version : 0;
    return records.move_output(job, output);
  }
  if (auto written = rewrite_file(output.path, content); !written) return written;
  struct stat facts {};
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

void remove_staged(std::span<const JobOutput> outputs, ObjectOutputs* objects) {
  for (const auto& output : outputs) {
    if (!is_object(output.staged)) ::unlink(output.staged.c_str());
    if (is_object(output.staged) && objects) (void)objects->remove(output.staged);  // else a sweep does
  }
}

void leave_staging(const fs::path& staging) {
  if (!is_object(staging)) ::rmdir(staging.c_str());
}

namespace {

/// Not where a limit on a file's size refused it: that holds for every folder.
bool has_better_elsewhere(const Error& error, const fs::path& staging, std::span<const OutputContent> outputs) {
  if (error.fault != Fault::refused || is_object(staging)) return true;
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
      const bool is_staged =
          is_object(output.staged) ? one.error().fault != Fault::missing : fs::exists(output.staged, why);
      if (!is_staged) return tl::unexpected(one.error());
      Error& error = one.error();
      error.hint = "The transcript is whole in " + output.staged + "; the next run tries it again";
      if (error.fault == Fault::missing)
        error.fault = Fault::unavailable;  // what is missing is its folder: the result
                                           // is there
      return tl::unexpected(error);
    }
    if (!is_object(one->path)) folders.insert(fs::path(one->path).parent_path());
    placed.push_back(std::move(*one));
  }
  TRY(sync_folders(folders));
  if (!outputs.empty()) TRY(records.mark_published(job, outputs.front().staged));
  return kept_files(placed);
}

namespace {

/// Where outputs are in buckets: again as long as what reaches these waits for them.
template <class Write>
auto retry_until_written(ObjectOutputs* objects, std::span<const OutputContent> outputs, Write write)
    -> decltype(write()) {
  const bool are_objects = objects && !outputs.empty() && is_object(outputs.front().path);
  for (;;) {
    auto written = write();
    if (written || !are_objects || !objects->await_another_try(written.error())) return written;
  }
}

}  // namespace

Result<Published> publish_outputs(JobQueue& queue, OutputRecords& records, const Lease& lease,
                                  std::span<const OutputContent> outputs, const AttemptUse& use,
                                  const PublishFolders& folders) {
  ObjectOutputs* objects = records.objects();
  auto staged = retry_until_written(objects, outputs, [&]() -> Result<std::vector<JobOutput>> {
    auto first = stage_outputs(lease, folders.staging, outputs, objects);
    if (first || folders.spare.empty() || !has_better_elsewhere(first.error(), folders.staging, outputs)) return first;
    auto kept = stage_each(lease, outputs, objects, [&](const auto&) { return Result<fs::path>(folders.spare); });
    return kept ? std::move(kept) : std::move(first);
  });
  if (!staged) return tl::unexpected(staged.error());
  const auto held = queue.complete(lease.key, *staged, use);
  if (!held || !*held) remove_staged(*staged, objects);
  TRY(held);
  if (!*held) return Published{};
  if (!is_recorded(records, lease.key.job, *staged)) {
    remove_staged(*staged, objects);
    return Published{};
  }
  auto placed = retry_until_written(
      objects, outputs, [&] { return put_outputs_in_place(records, lease.key.job, *staged, folders.existing); });
  if (!placed) return Published{.held = true, .left_staged = placed.error()};
  return Published{.held = true, .kept = std::move(*placed)};
}

Result<std::vector<KeptFile>> put_outputs_in_place(OutputRecords& records, JobId job, Existing existing) {
  const auto outputs = TRY(records.outputs(job));
  if (outputs.empty()) return fail(Fault::missing, "its result is not recorded any more: it was requested again");
  return put_outputs_in_place(records, job, outputs, existing);
}

Result<std::vector<OutputContent>> copy_of(std::span<const JobOutput> same, std::span<const fs::path> paths,
                                           ObjectOutputs* objects) {
  if (same.size() != paths.size())
    return fail(Fault::missing,
                "the twin has " + std::to_string(same.size()) + " outputs, expected " + std::to_string(paths.size()));
  std::vector<OutputContent> copies;
  for (std::size_t i = 0; i < same.size(); ++i) {
    auto content = read_output(objects, same[i].path);
    if (!content || sha256_of(*content) != same[i].sha256) content = read_output(objects, same[i].staged);
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
  return output.modified_ns == 0 || modified_ns(facts) == output.modified_ns ||
         occupant_of(output.path, {{output.sha256, output.bytes}}) == Occupant::known;
}

Result<bool> is_unchanged_object(ObjectOutputs* objects, const JobOutput& output) {
  auto* reached = TRY(expect_objects(objects, output.path));
  const auto facts = TRY(reached->look_at_list(output.path));
  if (!facts || facts->bytes != output.bytes) return false;
  if (output.modified_ns != 0 && facts->version == output.modified_ns) return true;
  return is_whole_output(objects, output.path, output);
}

bool is_unchanged(ObjectOutputs* objects, const JobOutput& output) {
  if (!is_object(output.path)) return is_unchanged(output);
  const auto unchanged = is_unchanged_object(objects, output);
  if (!unchanged) log(Level::warning, unchanged.error().text() + ". It counts as there");
  return unchanged.value_or(true);
}

bool is_there_at(ObjectOutputs* objects, const fs::path& path) {
  if (!is_object(path) || !objects) return is_there(path);
  const auto facts = objects->look_at_list(path);
  return !facts || facts->has_value();
}

}  // namespace

bool outputs_are_there(std::span<const JobOutput> outputs, Existing existing, ObjectOutputs* objects) {
  return std::ranges::all_of(outputs, [&](const JobOutput& output) {
    if (output.kept.empty()) return is_unchanged(objects, output);
    return existing == Existing::keep && (is_there_at(objects, output.kept) || is_unchanged(objects, output));
  });
}

std::vector<JobId> jobs_with_missing_outputs(std::span<const DoneJob> done, JobAdmin::Redo which,
                                             ObjectOutputs* objects) {
  const Existing existing = which == JobAdmin::Redo::missing_or_kept ? Existing::replace : Existing::keep;
  std::vector<JobId> missing;
  for (const DoneJob& each : done)
    if (!outputs_are_there(each.outputs, existing, objects)) missing.push_back(each.job);
  return missing;
}

}  // namespace tutti
