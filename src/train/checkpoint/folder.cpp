#include "train/checkpoint/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/files.h"
#include "base/owned.h"
#include "train/checkpoint/tensor_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> failed(const fs::path& path, const char* doing) {
  return tl::unexpected<Error>(system_error(path.string(), doing, errno));
}

void flush_folder(const fs::path& path) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

/// Has `fill` write a folder under another name, then gives it its own. What had that name before goes afterwards.
Result<void> replace_folder(const fs::path& path, const std::function<Result<void>(const fs::path&)>& fill) {
  const fs::path staging = path.parent_path() / (".new-" + path.filename().string());
  std::error_code ignored;
  fs::remove_all(staging, ignored);
  fs::create_directories(staging, ignored);
  if (auto filled = fill(staging); !filled) {
    fs::remove_all(staging, ignored);
    return filled;
  }
  flush_folder(staging);
  const bool there = fs::exists(path, ignored);
  if (::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, path.c_str(), there ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0)
    return failed(path, "could not be put in place");
  flush_folder(path.parent_path());
  if (there) fs::remove_all(staging, ignored);
  return {};
}

Result<void> fill_network(const fs::path& path, const NetworkFolder& network) {
  for (const auto& [name, content] : network.files)
    if (auto written = write_file_atomically(path / name, content); !written) return written;
  return write_tensors(path / "model.safetensors", network.weights, network.weight_type);
}

std::string name_of_step(std::int64_t step) {
  auto digits = std::to_string(step);
  return "step-" + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

}  // namespace

Result<void> write_network(const fs::path& path, const NetworkFolder& network) {
  return replace_folder(path, [&](const fs::path& folder) { return fill_network(folder, network); });
}

Result<void> CheckpointFolder::write(const CheckpointContent& content) const {
  return replace_folder(folder() / name_of_step(content.state.step), [&](const fs::path& path) {
    auto written = fill_network(path, content.network);
    if (written) written = write_tensors(path / "training.safetensors", content.training, "float32");
    if (written) written = write_file_atomically(path / "training.json", show_state(content.state));
    return written;
  });
}

std::vector<fs::path> CheckpointFolder::oldest_first() const {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder(), error))
    if (entry.path().filename().string().starts_with("step-")) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

void CheckpointFolder::prune(std::int32_t keep, std::int64_t best) const {
  auto all = oldest_first();
  all.resize(all.size() - std::min(all.size(), static_cast<std::size_t>(keep)));
  std::error_code ignored;
  for (const auto& path : all) {
    if (path.filename() == name_of_step(best)) continue;
    // Under another name first, so that half a folder is never found.
    const auto gone = path.parent_path() / (".old-" + path.filename().string());
    fs::rename(path, gone, ignored);
    fs::remove_all(gone, ignored);
  }
}

std::optional<fs::path> CheckpointFolder::newest() const {
  const auto all = oldest_first();
  return all.empty() ? std::nullopt : std::optional(all.back());
}

}  // namespace tutti
