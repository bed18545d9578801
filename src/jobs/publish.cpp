#include "jobs/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/sha256.h"
#include "base/system_error.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStagingName = ".tmp";

std::string hash_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(bytes)));
  return hash.hex();
}

bool is_whole(const fs::path& path, const TaskOutput& output) {
  const auto content = read_file(path);
  return content && static_cast<std::int64_t>(content->size()) == output.bytes && hash_of(*content) == output.sha256;
}

bool on_one_disk(const fs::path& a, const fs::path& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev;
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
Result<std::vector<TaskOutput>> stage_each(const Lease& lease, std::span<const OutputContent> outputs,
                                           FolderFor folder_for) {
  std::vector<TaskOutput> staged;
  Written files;
  std::set<fs::path> folders;
  const auto stage = [&](const OutputContent& output) -> Result<void> {
    const Result<fs::path> here = folder_for(output);
    if (!here) return tl::unexpected(here.error());
    if (auto made = make_folders(*here); !made) return made;
    const std::string name = std::to_string(lease.key.task) + "." + std::to_string(lease.attempt) + "." +
                             lease.key.token + "." + std::to_string(staged.size());
    staged.push_back({output.path.string(), (*here / name).string(), hash_of(output.content),
                      static_cast<std::int64_t>(output.content.size())});
    folders.insert(*here);
    return files.write(*here / name, output.content);
  };
  Result<void> done;
  for (const auto& output : outputs)
    if (done) done = stage(output);
  if (done) done = files.sync();
  if (done) done = sync_folders(folders);
  if (done) return staged;
  remove_staged(staged);
  return tl::unexpected(done.error());
}

/// From a disk that a rename does not reach. None: the staged copy is gone.
Result<bool> carry_over(const TaskOutput& output) {
  const auto content = read_file(output.staged);
  if (!content && content.error().fault == Fault::missing) return false;
  if (!content) return tl::unexpected(content.error());
  if (auto written = write_file_atomically(output.path, *content); !written) return tl::unexpected(written.error());
  ::unlink(output.staged.c_str());
  return true;
}

}  // namespace

Result<std::vector<TaskOutput>> stage_outputs(const Lease& lease, const fs::path& staging,
                                              std::span<const OutputContent> outputs) {
  return stage_each(lease, outputs, [&](const OutputContent& output) -> Result<fs::path> {
    const fs::path folder = output.path.parent_path();
    if (auto made = make_folders(folder); !made) return tl::unexpected(made.error());
    if (auto made = make_folders(staging); !made) return tl::unexpected(made.error());
    return on_one_disk(staging, folder) ? staging : folder / kStagingName;
  });
}

Result<void> put_in_place(const TaskOutput& output) {
  const fs::path path = output.path;
  std::error_code why;
  if (fs::exists(output.staged, why))  // on another disk it outlasts the folder it is for
    if (auto made = make_folders(path.parent_path()); !made) return made;
  if (::rename(output.staged.c_str(), path.c_str()) == 0) return {};
  if (errno != ENOENT && errno != EXDEV) return fail_errno(path.string(), "could not be put in place");
  const auto carried = errno == EXDEV ? carry_over(output) : Result<bool>(false);
  if (!carried) return tl::unexpected(carried.error());
  if (*carried) return {};
  if (is_whole(path, output)) return {};
  return fail(Fault::missing, path.string() + ": neither it nor its staged copy is what was recorded");
}

void remove_staged(std::span<const TaskOutput> outputs) {
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

}  // namespace

// The store knows it when they would last through a power cut.
Result<void> put_outputs_in_place(JobStore& store, TaskId task, std::span<const TaskOutput> outputs) {
  std::set<fs::path> folders;
  for (const auto& output : outputs) {
    if (auto placed = put_in_place(output); !placed) {
      std::error_code why;
      if (!fs::exists(output.staged, why)) return placed;
      Error& error = placed.error();
      error.hint = "The transcript is whole in " + output.staged + "; the next run tries it again";
      if (error.fault == Fault::missing) error.fault = Fault::unavailable;  // its place is: the result is there
      return placed;
    }
    folders.insert(fs::path(output.path).parent_path());
  }
  if (auto synced = sync_folders(folders); !synced) return synced;
  return store.mark_published(task);
}

Result<Published> publish_outputs(JobStore& store, const Lease& lease, const fs::path& staging,
                                  std::span<const OutputContent> outputs, const AttemptUse& use,
                                  const fs::path& spare) {
  auto staged = stage_outputs(lease, staging, outputs);
  if (!staged && !spare.empty() && has_better_elsewhere(staged.error(), staging, outputs))
    if (auto kept = stage_each(lease, outputs, [&](const auto&) { return Result<fs::path>(spare); }))
      staged = std::move(kept);
  if (!staged) return tl::unexpected(staged.error());
  const auto held = store.complete(lease.key, *staged, use);
  if (!held || !*held) remove_staged(*staged);
  if (!held) return tl::unexpected(held.error());
  if (!*held) return Published{};
  if (auto placed = put_outputs_in_place(store, lease.key.task, *staged); !placed)
    return Published{true, placed.error()};
  return Published{.held = true};
}

Result<void> put_outputs_in_place(JobStore& store, TaskId task) {
  const auto outputs = store.outputs(task);
  if (!outputs) return tl::unexpected(outputs.error());
  if (outputs->empty()) return fail(Fault::missing, "its result is not recorded any more: it was asked for anew");
  return put_outputs_in_place(store, task, *outputs);
}

Result<std::vector<OutputContent>> copy_of(std::span<const TaskOutput> same, std::span<const fs::path> paths) {
  if (same.size() != paths.size())
    return fail(Fault::missing,
                "the twin has " + std::to_string(same.size()) + " outputs, expected " + std::to_string(paths.size()));
  std::vector<OutputContent> copies;
  for (std::size_t i = 0; i < same.size(); ++i) {
    auto content = read_file(same[i].path);
    if (!content || hash_of(*content) != same[i].sha256) content = read_file(same[i].staged);
    if (!content || hash_of(*content) != same[i].sha256)
      return fail(Fault::missing, same[i].path + ": not what was recorded");
    copies.push_back({paths[i], std::move(*content)});
  }
  return copies;
}

bool outputs_are_there(std::span<const TaskOutput> outputs) {
  for (const auto& output : outputs) {
    std::error_code why;
    const auto size = fs::file_size(output.path, why);
    if (why || static_cast<std::int64_t>(size) != output.bytes) return false;
  }
  return true;
}

}  // namespace tutti
