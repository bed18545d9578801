#include "hub/pull.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/owned.h"
#include "base/strings.h"
#include "base/try.h"
#include "hub/model_files.h"
#include "hub/names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommitFile = ".commit";  // which commit of the hub a folder holds
constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kOtherWeights = "model.bin";  // faster-whisper's

/// Whether `folder` holds all of this commit.
bool is_here(const fs::path& folder, const std::string& commit) {
  const auto model = inspect_model(folder);
  return model && model->complete() && read_regular_file(folder / kCommitFile).value_or("") == commit;
}

/// The needed ones of a repository's files, and first what shows whether it is a Whisper model at all.
Result<std::vector<RemoteFile>> choose(const RemoteModel& model) {
  std::vector<std::string> names;
  for (const auto& file : model.files) names.push_back(file.name);
  const auto needed = needed_files(names);
  if (needed.empty())
    return fail(Fault::unsupported, model.repo + ": holds no model.safetensors",
                "Expected a Whisper model in Hugging Face's layout with safetensors weights, or faster-whisper's");
  if (tokenizer_files_among(needed).empty())
    return fail(Fault::unsupported,
                model.repo +
                    ": holds no tokenizer.json, vocab.json with merges.txt, vocabulary.json or .txt, nor one "
                    ".tiktoken",
                "Pull the model that it was made from, or copy that one's tokenizer.json beside the weights");
  const auto takes = [&](std::string_view name) { return std::ranges::find(needed, name) != needed.end(); };
  if (!takes(kConfig) && !takes(kOtherWeights))
    return fail(Fault::unsupported, model.repo + ": holds no config.json beside its weights",
                "Name a repository in Hugging Face's layout, such as openai/whisper-tiny.en");
  std::vector<RemoteFile> chosen;
  for (const auto& file : model.files)
    if (std::ranges::binary_search(needed, file.name)) chosen.push_back(file);
  std::ranges::stable_partition(chosen, [](const RemoteFile& file) { return file.name == kConfig; });
  return chosen;
}

/// Refuses a repository that is no Whisper model, and keeps nothing of what has come of it.
tl::unexpected<Error> no_model(const RemoteModel& model, const fs::path& staging, const std::string& found) {
  std::error_code ignored;
  fs::remove_all(staging, ignored);
  return fail(Fault::unsupported, model.repo + ": expected a whole Whisper model, found " + found,
              "Name a repository of Whisper weights, such as openai/whisper-tiny.en");
}

/// That the configuration is a Whisper's. faster-whisper's does not say: its weights do.
Result<void> expect_configuration(const RemoteModel& model, const std::vector<RemoteFile>& files,
                                  const fs::path& staging) {
  const bool has_weights =
      std::ranges::none_of(files, [](const RemoteFile& file) { return file.name == kOtherWeights; });
  if (!has_weights || kind_of(staging) == ModelKind::hugging_face) return {};
  return no_model(model, staging, "the " + std::string(kConfig) + " of another network");
}

/// That what has come is all a model needs.
Result<void> expect_model(const RemoteModel& model, const fs::path& staging) {
  const auto here = inspect_model(staging);
  if (here && here->complete()) return {};
  return no_model(model, staging, here ? "that " + joined(here->missing, "; ") : "another network's weights");
}

/// A lock on the staging folder that goes with its descriptor, so a killed pull leaves none behind.
Result<OwnedFd> lock(const fs::path& folder) {
  TRY(make_folders(folder));
  OwnedFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno(folder.string(), "could not be created");
  const auto locked =
      TRY(try_lock_file(fd.get(), folder.string(), "Set TUTTI_CACHE to a folder on a disk of this machine"));
  if (!locked)
    return fail(Fault::refused, folder.string() + ": another pull of this model is running", "Wait for it to end");
  return fd;
}

std::int64_t size_on_disk(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

/// What is there of a file in a staging folder: all of it under its name, or a part.
std::int64_t bytes_here(const fs::path& target) {
  return std::max(size_on_disk(target), size_on_disk(target.string() + ".part"));
}

/// A folder of this name that no pull has made is the user's.
Result<void> expect_own_folder(const fs::path& final) {
  std::error_code ignored;
  if (!is_there(final) || is_there(final / kCommitFile) || fs::is_empty(final, ignored)) return {};
  return fail(Fault::refused, final.string() + ": expected a model that was pulled, found a folder of another origin",
              "Move it away, or use it as it is: " + field("model") + " " + final.string());
}

/// The staging folder takes the model's name. An older commit of it steps aside first.
Result<void> publish(const fs::path& staging, const fs::path& final, const std::string& commit) {
  if (auto noted = write_file_atomically(staging / kCommitFile, commit); !noted) return noted;
  const fs::path old = final.string() + ".pulling";
  std::error_code error;
  fs::remove_all(old, error);
  if (is_there(final)) fs::rename(final, old, error);
  fs::rename(staging, final, error);
  if (error) return tl::unexpected(system_error(final.string(), "could not be put in place", error.value()));
  fs::remove_all(old, error);
  return {};
}

/// Staging folders of commits that the hub has left behind. Theirs are as long as the current one's; `whisper-tiny.`
/// begins the names of `whisper-tiny.en`, too.
void drop_stale(const fs::path& models, const std::string& name, const fs::path& current) {
  const auto length = current.filename().string().size();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(models, error)) {
    const auto file = entry.path().filename().string();
    const bool ours = file.size() == length && file.starts_with(name + ".") && file.ends_with(".pulling");
    if (ours && entry.path() != current) fs::remove_all(entry.path(), error);
  }
}

/// Counts the bytes of all files together for the progress callback.
class Tally {
 public:
  Tally(const std::vector<RemoteFile>& files, const fs::path& folder, const PullOptions& options)
      : report_(options.progress) {
    for (const auto& file : files) {
      now_.total += std::max<std::int64_t>(file.size, 0);
      here_ += bytes_here(folder / file.name);
    }
  }
  std::int64_t missing() const { return now_.total - here_; }

  void start(const std::string& file) { now_.file = file; }
  void received(std::int64_t bytes) {
    now_.done = finished_ + bytes;
    now_.total = std::max(now_.total, now_.done);
    if (report_) report_(now_);
  }
  void finish(std::int64_t bytes) {
    received(bytes);
    finished_ += bytes;
  }

 private:
  const std::function<void(const PullProgress&)>& report_;
  PullProgress now_;
  std::int64_t here_ = 0;
  std::int64_t finished_ = 0;
};

Result<void> fetch_all(HubClient& client, const RemoteModel& model, const std::vector<RemoteFile>& files,
                       const fs::path& folder, Tally& tally) {
  for (const auto& file : files) {
    const fs::path target = folder / file.name;
    tally.start(file.name);
    if (!is_there(target))
      if (auto got = client.download(model, file, target); !got) return got;
    tally.finish(size_on_disk(target));
    // The configuration comes first, and nothing after it where it is another network's: weights take gigabytes.
    if (&file == &files.front())
      if (auto whisper = expect_configuration(model, files, folder); !whisper) return whisper;
  }
  return expect_model(model, folder);
}

}  // namespace

Result<fs::path> pull(std::string_view word, const PullOptions& options) {
  const auto name = TRY(resolve_name(word));
  Tally* watching = nullptr;
  auto client = TRY(HubClient::connect(options.hub, {.go_on = options.go_on,
                                                     .received =
                                                         [&](std::int64_t n) {
                                                           if (watching) watching->received(n);
                                                         },
                                                     .wait = options.wait}));
  const auto model = TRY(client.look_up(name.repo));

  const std::string folder = folder_name(name.repo);
  const fs::path final = options.into / folder;
  if (is_here(final, model.commit)) return final;
  TRY(expect_own_folder(final));
  const auto files = TRY(choose(model));

  const fs::path staging = options.into / (folder + "." + model.commit.substr(0, 12) + ".pulling");
  const auto held = TRY(lock(staging));
  drop_stale(options.into, folder, staging);
  Tally tally(files, staging, options);
  watching = &tally;
  TRY(expect_space(staging, {tally.missing()}, "what is still to come",
                   "Free some space, or set TUTTI_CACHE to a folder on another disk"));
  TRY(fetch_all(client, model, files, staging, tally));
  TRY(publish(staging, final, model.commit));
  return final;
}

}  // namespace tutti
