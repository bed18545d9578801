#include "serve/jobs/job_files.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/try.h"
#include "net/url_fetch.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

/// Copies an unnamed file of another file system, whole, to a new name.
Result<void> copy_to(int from, const fs::path& path) {
  const OwnedFd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!to) return fail_errno(path.string(), "cannot be made");
  for (off_t at = 0;;) {
    constexpr std::size_t kAtOnce = std::size_t{64} << 20;
    const auto copied = ::sendfile(to.get(), from, &at, kAtOnce);
    if (copied == 0) break;
    if (copied < 0 && errno != EINTR) return fail_errno(path.string(), "cannot be written");
  }
  if (::fdatasync(to.get()) != 0) return fail_errno(path.string(), "cannot be written");
  return {};
}

}  // namespace

Result<JobFiles> JobFiles::open(JobFilesOptions options) {
  std::error_code failed;
  const fs::path folder = fs::absolute(options.state, failed).lexically_normal() / "jobs";
  TRY(make_private_folder(folder));
  if (::chmod(folder.c_str(), 0700) != 0) return fail_errno(folder.string(), "cannot be closed to other users");
  if (!options.allowed.empty()) {
    const fs::path root = fs::canonical(options.allowed, failed);
    if (failed || !fs::is_directory(root, failed))
      return fail(Fault::usage, field("allow_root") + ": expected a folder, found '" + options.allowed.string() + "'");
    options.allowed = root;
  }
  auto secrets = TRY(SealedTexts::open(folder.parent_path() / "jobs.key"));
  return JobFiles(std::move(options), folder, secrets);
}

Result<OwnedFd> JobFiles::open_upload() const {
  OwnedFd file(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  if (errno == EOPNOTSUPP || errno == EISDIR) return open_unnamed_file();
  return fail_errno(folder_.string(), "an upload cannot be stored");
}

Result<void> JobFiles::keep_upload(int file, const std::string& key) const {
  const fs::path path = upload_of(key);
  if (::fdatasync(file) != 0) return fail_errno(path.string(), "cannot be written");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(path.string(), "cannot be replaced");
  if (const auto why = name_descriptor(file, path)) {
    if (why != std::errc::cross_device_link && why != std::errc::no_such_file_or_directory)
      return tl::unexpected(system_error(path.string(), "cannot be made", why.value()));
    if (auto copied = copy_to(file, path); !copied) return copied;
  }
  return sync_folder(folder_);
}

void JobFiles::keep_result(const std::string& key) const {
  ::chmod(result_of(key).c_str(), 0600);
}

FormFields JobFiles::sealed(FormFields fields) const {
  for (auto& [name, value] : fields)
    if (name == "url" || name == "callback") value = secrets_.seal(value);
  return fields;
}

std::optional<std::string> JobFiles::unsealed(const std::string& address) const {
  return secrets_.unseal(address);
}

void JobFiles::remove_upload(const std::string& key) const {
  ::unlink(upload_of(key).c_str());
}

void JobFiles::remove_result(const std::string& key) const {
  ::unlink(result_of(key).c_str());
}

bool JobFiles::is_allowed(const std::string& real) const {
  const std::string root = options_.allowed.string();
  return real.starts_with(root.ends_with('/') ? root : root + "/");
}

Result<OwnedFd> JobFiles::open_allowed(const std::string& path) const {
  if (options_.allowed.empty())
    return fail(Fault::refused, "path: this server reads no files of its own machine for clients",
                "Send the recording, or start the server with " + field("allow_root") + " DIR");
  const auto outside = [&] {
    return fail(Fault::refused, "path: '" + path + "' is not in the folder that this server may read");
  };
  // The same answer for what is outside and for what is not there: the names of other files are no client's business.
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(options_.allowed / path, failed);
  if (failed || !is_allowed(real.string())) return outside();
  OwnedFd file(::open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fail_errno("path: " + path, "cannot be opened");
  // What was opened counts, and not what the name leads to a moment later.
  if (!is_allowed(fs::read_symlink(path_of_descriptor(file.get()), failed).string())) return outside();
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(Fault::unsupported, "path: expected a file, and '" + path + "' is none");
  return file;
}

Result<void> JobFiles::check_path(const std::string& path) const {
  TRY(open_allowed(path));
  return {};
}

Result<OwnedFd> JobFiles::open_audio(const JobRequest& request, const std::string& key,
                                     const std::function<bool()>& go_on) const {
  switch (request.source) {
    case JobRequest::Source::upload: {
      OwnedFd file(::open(upload_of(key).c_str(), O_RDONLY | O_CLOEXEC));
      if (!file) return fail_errno("the upload", "cannot be opened");
      return file;
    }
    case JobRequest::Source::path: return open_allowed(request.location);
    case JobRequest::Source::url: break;
  }
  auto file = open_upload();
  if (!file) return file;
  const UrlLimits limits{.most_bytes = options_.most_bytes, .private_hosts = options_.url_hosts};
  const auto address = secrets_.unseal(request.location);
  if (!address) return fail(Fault::refused, "url: the key that it was sealed with is gone", "Send the job again");
  TRY(fetch_url(*address, file->get(), limits, go_on));
  return file;
}

void JobFiles::sweep(JobAdmin& admin) const {
  std::error_code failed;
  std::size_t removed = 0;
  for (fs::directory_iterator entry(folder_, failed), end; !failed && entry != end; entry.increment(failed)) {
    const fs::path path = entry->path();
    if (path.extension() != kUploadEnding) continue;
    const fs::path key = folder_ / path.stem();
    const auto job = admin.find(key.string());
    if (!job || (*job && (*job)->state != JobState::done)) continue;
    remove_upload(key.string());
    ++removed;
  }
  if (removed > 0) log(Level::info, std::to_string(removed) + " uploads without an open job were removed");
}

}  // namespace tutti
