#include "train/checkpoint/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/owned.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "hub/files_of_model.h"
#include "recipe/checkpoint_names.h"
#include "train/checkpoint/tensor_file.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "digests.json";

Result<std::string> digest_of(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  return hex_of(cache_key(file.bytes(), {}));
}

/// As digests.json keeps them; none where an older version wrote the folder.
Result<Json> digests_in(const std::filesystem::path& folder) {
  if (!is_there(folder / kName)) return Json::object();
  const auto text = TRY(read_file(folder / kName));
  auto digests = Json::parse(text, nullptr, false);
  if (!digests.is_object()) return fail(Fault::corrupt, (folder / kName).string() + ": expected a JSON object");
  return digests;
}

}  // namespace

Result<void> write_digests(const std::filesystem::path& folder, const std::vector<std::string>& files,
                           const std::vector<std::string>& others) {
  Json digests;
  for (const auto& name : others) digests[name] = nullptr;
  for (const auto& name : files) {
    digests[name] = TRY(digest_of(folder / name));
  }
  return write_file_atomically(folder / kName, digests.dump(1) + "\n");
}

std::set<std::string> written_files(const std::filesystem::path& folder) {
  const auto digests = digests_in(folder);
  std::set<std::string> names;
  if (!digests || digests->empty()) return names;
  for (const auto& [name, digest] : digests->items()) names.insert(name);
  names.insert(kName);
  return names;
}

Result<void> renew_digest(const std::filesystem::path& folder, const std::string& file) {
  auto digests = TRY(digests_in(folder));
  if (digests.empty()) return {};
  digests[file] = TRY(digest_of(folder / file));
  return write_file_atomically(folder / kName, digests.dump(1) + "\n");
}

Result<void> check_digests(const std::filesystem::path& folder) {
  const auto digests = TRY(digests_in(folder));
  for (const auto& [name, wanted] : digests.items()) {
    if (wanted.is_null()) continue;
    const auto found = TRY(digest_of(folder / name));
    if (wanted != found)
      return fail(Fault::corrupt, (folder / name).string() + ": damaged, it does not hold what was written to it",
                  "Copy or make the folder again");
  }
  return {};
}

Result<OwnedFd> hold_folder(const std::filesystem::path& out, Seconds patience) {
  TRY(make_folders(out));
  return take_hold({.file = out / kTrainingLock,
                    .other = out.string() + ": another process is training into this folder",
                    .unnoticed = "a second training into " + out.string(),
                    .way_out = "Wait for it to end, or name another folder with " + field("out"),
                    .patience = patience});
}

namespace {

namespace fs = std::filesystem;

// Beside the folder they belong to: what is being written, what another folder replaces, what is being removed.
constexpr const char* kNew = ".new-";
constexpr const char* kOld = ".old-";
constexpr const char* kGone = ".gone-";
// What could not be read; it stays for inspection.
constexpr const char* kDamaged = "damaged-";
// Within a checkpoint.
constexpr const char* kState = "training.json";
constexpr const char* kTraining = "training.safetensors";
constexpr const char* kWeights = "model.safetensors";

fs::path beside(const fs::path& path, std::string_view kind) {
  return path.parent_path() / (std::string(kind) + path.filename().string());
}

/// Gives `staging` the name `path`; what had it before is removed.
Result<void> put_in_place(const fs::path& staging, const fs::path& path) {
  std::error_code ignored;
  const bool there = fs::exists(path, ignored);
  if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, path.c_str(), there ? RENAME_EXCHANGE : RENAME_NOREPLACE) == 0) {
    auto synced = sync_folder(folder_of(path));
    if (there) fs::remove_all(staging, ignored);
    return synced;
  }
  // NFS, for one, knows no flags.
  if (errno == EINVAL || errno == ENOSYS) return replace_by_renames(staging, path);
  return fail_errno(path.string(), "could not be put in place");
}

/// Has `fill` write a folder under another name, then gives it its own. What had that name before goes afterwards.
Result<void> replace_folder(const fs::path& path, const std::function<Result<void>(const fs::path&)>& fill) {
  const fs::path staging = beside(path, kNew);
  std::error_code ignored;
  fs::remove_all(staging, ignored);
  auto done = make_folders(staging);
  if (done) done = fill(staging);
  if (done) done = sync_folder(staging);
  if (done) done = put_in_place(staging, path);
  if (!done) fs::remove_all(staging, ignored);
  return done;
}

Result<void> fill_network(const fs::path& path, const NetworkFolder& network) {
  for (const auto& [name, content] : network.files)
    if (auto written = write_file_atomically(path / name, content); !written) return written;
  return write_tensors(path / kWeights, network.weights, network.weight_type);
}

std::vector<std::string> names_of(const NetworkFolder& network) {
  std::vector<std::string> names;
  for (const auto& [name, content] : network.files) names.push_back(name);
  return names;
}

Result<void> fill_checkpoint(const fs::path& path, const CheckpointContent& content) {
  auto written = fill_network(path, content.network);
  if (written) written = write_tensors(path / kTraining, content.training, "float32");
  if (written) written = write_file_atomically(path / kState, show_state(content.state));
  if (written) written = write_digests(path, {kWeights, kTraining, kState}, names_of(content.network));
  return written;
}

/// A copy that outlasts a power cut.
Result<void> copy_durably(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::copy_file(from, to, failed);
  if (failed) return tl::unexpected(system_error(to.string(), "could not be copied", failed.value()));
  const OwnedFd fd(::open(to.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd && ::fsync(fd.get()) == 0) return {};
  return fail_errno(to.string(), "could not be synced");
}

Result<void> share_files(const fs::path& from, const fs::path& to, const std::set<std::string>& without = {});

/// A folder with all that is in it, a link, or a file: the same one, where the file system lets it have two names.
Result<void> share(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  if (fs::is_directory(fs::symlink_status(from, failed))) {
    if (auto made = make_folders(to); !made) return made;
    return share_files(from, to);
  }
  if (::link(from.c_str(), to.c_str()) == 0) return {};
  if (!fs::is_symlink(from, failed)) return copy_durably(from, to);
  fs::copy_symlink(from, to, failed);
  if (failed) return tl::unexpected(system_error(to.string(), "could not be copied", failed.value()));
  return {};
}

/// What is in `from` is in `to` as well, but for the names that are taken there and for those `without`.
Result<void> share_files(const fs::path& from, const fs::path& to, const std::set<std::string>& without) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(from, failed)) {
    const auto name = entry.path().filename();
    if (without.contains(name.string()) || is_taken(to / name)) continue;
    if (auto shared = share(entry.path(), to / name); !shared) return shared;
  }
  if (failed) return tl::unexpected(system_error(from.string(), "cannot be read", failed.value()));
  return {};
}

/// What a training wrote into a checkpoint or model; anything else in it is the user's.
std::set<std::string> names_written_to(const fs::path& folder) {
  auto names = written_files(folder);
  if (names.contains("config.json")) return names;
  for (const auto& file : files_of_model(folder)) names.insert(file.filename().string());  // files of an older version
  names.insert({kTraining, kState, "training.toml"});
  return names;
}

bool holds_user_files(const fs::path& folder) {
  const auto names = names_written_to(folder);
  std::error_code ignored;
  return std::ranges::any_of(fs::directory_iterator(folder, ignored), [&](const fs::directory_entry& entry) {
    return !names.contains(entry.path().filename().string());
  });
}

/// As replace_folder; files of the user's in the folder stay there.
Result<void> replace_own_files(const fs::path& path, const std::function<Result<void>(const fs::path&)>& fill) {
  return replace_folder(path, [&](const fs::path& folder) {
    auto filled = fill(folder);
    return filled && is_there(path) ? share_files(path, folder, names_written_to(path)) : filled;
  });
}

std::string name_of_step(std::int64_t step) {
  auto digits = std::to_string(step);
  return std::string(kStepPrefix) + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

/// The folder that something put aside belongs to; nothing for other names.
std::optional<fs::path> owner_of(const fs::path& aside, const char* kind) {
  const auto name = aside.filename().string();
  if (!name.starts_with(kind)) return {};
  return aside.parent_path() / name.substr(std::string_view(kind).size());
}

/// What is beside the checkpoints and the model, under whatever name.
std::vector<fs::path> leftovers(const fs::path& out) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(out / "checkpoints", error)) found.push_back(entry.path());
  for (const char* kind : {kNew, kOld})
    if (const auto path = beside(out / "model", kind); fs::exists(path, error)) found.push_back(path);
  return found;
}

}  // namespace

Result<void> replace_by_renames(const fs::path& staging, const fs::path& path) {
  const auto old = beside(path, kOld);
  std::error_code ignored;
  const bool there = fs::exists(path, ignored);
  if (there) {
    fs::remove_all(old, ignored);
    if (::rename(path.c_str(), old.c_str()) != 0) return fail_errno(path.string(), "could not be put aside");
  }
  if (::rename(staging.c_str(), path.c_str()) != 0) {
    auto failure = fail_errno(path.string(), "could not be put in place");
    if (there) fs::rename(old, path, ignored);
    return failure;
  }
  auto synced = sync_folder(folder_of(path));
  fs::remove_all(old, ignored);
  return synced;
}

Result<void> write_network(const fs::path& path, const NetworkFolder& network) {
  return replace_own_files(path, [&](const fs::path& folder) {
    auto names = names_of(network);
    names.emplace_back(kWeights);
    auto written = fill_network(folder, network);
    return written ? write_digests(folder, names) : written;
  });
}

Result<void> CheckpointFolder::write(const CheckpointContent& content) const {
  return replace_own_files(of_step(content.state.step),
                           [&](const fs::path& path) { return fill_checkpoint(path, content); });
}

Result<void> CheckpointFolder::amend(const TrainingState& state) const {
  const auto before = of_step(state.step);
  return replace_folder(before, [&](const fs::path& path) {
    auto written = share_files(before, path);
    if (written) written = write_file_atomically(path / kState, show_state(state));
    if (written) written = renew_digest(path, kState);
    return written;
  });
}

Result<void> CheckpointFolder::write_aside(const CheckpointContent& content) const {
  return replace_own_files(aside_of_step(content.state.step),
                           [&](const fs::path& path) { return fill_checkpoint(path, content); });
}

fs::path CheckpointFolder::aside_of_step(std::int64_t step) const {
  return beside(of_step(step), kStoppedPrefix);
}

fs::path CheckpointFolder::of_step(std::int64_t step) const {
  return folder() / name_of_step(step);
}

std::vector<fs::path> CheckpointFolder::newest_first() const {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder(), error))
    if (entry.path().filename().string().starts_with(kStepPrefix)) found.push_back(entry.path());
  std::ranges::sort(found, std::ranges::greater());
  return found;
}

void CheckpointFolder::prune(std::int32_t keep, std::int64_t best) const {
  auto all = newest_first();
  all.erase(all.begin(), all.begin() + std::min<std::ptrdiff_t>(std::ssize(all), keep));
  std::error_code ignored;
  for (const auto& path : all) {
    if (path.filename() == name_of_step(best) || holds_user_files(path)) continue;
    // Under another name first, so that half a folder is never found.
    const auto gone = beside(path, kGone);
    fs::rename(path, gone, ignored);
    fs::remove_all(gone, ignored);
  }
}

void CheckpointFolder::put_back() const {
  std::error_code ignored;
  for (const auto& path : leftovers(out_)) {
    const auto owner = owner_of(path, kOld);
    if (owner && !fs::exists(*owner, ignored)) fs::rename(path, *owner, ignored);
  }
}

void CheckpointFolder::clear_leftovers() const {
  std::error_code ignored;
  put_back();
  for (const auto& path : leftovers(out_))
    for (const char* kind : {kNew, kOld, kGone})
      if (owner_of(path, kind)) fs::remove_all(path, ignored);
}

void CheckpointFolder::set_aside_behind(std::int64_t step) const {
  std::error_code ignored;
  for (const auto& path : newest_first()) {
    if (path.filename() <= name_of_step(step)) return;
    const auto aside = beside(path, kDamaged);
    fs::remove_all(aside, ignored);
    fs::rename(path, aside, ignored);
  }
}

}  // namespace tutti
