#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"
#include "jobs/job_admin.h"
#include "serve/jobs/job_request.h"
#include "serve/jobs/sealed_texts.h"

namespace tutti {

struct JobFilesOptions {
  std::filesystem::path state{};                      // the store's folder
  std::uint64_t most_bytes = std::uint64_t{2} << 30;  // size of a recording
  std::filesystem::path allowed{};                    // `path` jobs may name what is in it; empty: none may
  std::vector<std::string> url_hosts{};               // that URLs may name although they are in a private network
};

/// Where the recordings and results of /v1/jobs are: STATE/jobs/DIGEST.audio and .json. A recording is on disk before
/// its job is accepted, and goes when the job is done or removed. Thread-safe.
class JobFiles {
 public:
  /// Makes the folder.
  static Result<JobFiles> open(JobFilesOptions options);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path staging() const { return folder_ / ".tmp"; }
  std::uint64_t most_bytes() const { return options_.most_bytes; }
  /// JobSpec::key of a digest.
  std::string key_of(const std::string& digest) const { return (folder_ / digest).string(); }
  static std::string upload_of(const std::string& key) { return key + kUploadEnding; }
  static std::string result_of(const std::string& key) { return key + ".json"; }

  /// An unnamed file for an upload, in the folder where its file system can do that.
  Result<OwnedFd> open_upload() const;
  /// Gives an upload its name, so that it outlasts a kill and a power cut. Replaces what has that name.
  Result<void> keep_upload(int file, const std::string& key) const;
  /// Closes a result that was put in place to other users.
  void keep_result(const std::string& key) const;
  void remove_upload(const std::string& key) const;
  void remove_result(const std::string& key) const;

  /// Whether `path`, absolute or from the allowed folder on, is a file in that folder, links followed. Fault::refused:
  /// it is elsewhere, or no paths are allowed; Fault::unsupported: it is no file.
  Result<void> check_path(const std::string& path) const;
  /// The fields as the store may have them: an address may be a secret.
  FormFields sealed(FormFields fields) const;
  /// An address of such fields; none: its key is gone.
  std::optional<std::string> unsealed(const std::string& address) const;
  const std::vector<std::string>& url_hosts() const { return options_.url_hosts; }
  /// Opens a job's recording: the upload, the path, checked again, or what the URL has, which is fetched.
  Result<OwnedFd> open_audio(const JobRequest& request, const std::string& key,
                             const std::function<bool()>& go_on) const;

  /// Removes uploads that no open job has: a server was killed before it accepted them, or after their job was done.
  void sweep(JobAdmin& admin) const;

 private:
  static constexpr const char* kUploadEnding = ".audio";

  JobFiles(JobFilesOptions options, std::filesystem::path folder, SealedTexts secrets)
      : options_(std::move(options)), folder_(std::move(folder)), secrets_(secrets) {}

  bool is_allowed(const std::string& real) const;
  Result<OwnedFd> open_allowed(const std::string& path) const;

  JobFilesOptions options_;
  std::filesystem::path folder_;
  SealedTexts secrets_;
};

}  // namespace tutti
