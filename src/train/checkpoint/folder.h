#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "train/checkpoint/training_state.h"
#include "train/network/parameters.h"

namespace tutti {

/// A network as a folder that other programs load.
struct NetworkFolder {
  std::map<std::string, std::string> files{};  // config.json, tokenizer.json, ...
  std::vector<Parameter> weights{};
  std::string weight_type = "float32";
};

/// What a checkpoint holds: the network as it is computed, and all that is needed to go on.
struct CheckpointContent {
  NetworkFolder network{};
  std::vector<Parameter> training{};  // optimiser, averages, additions
  TrainingState state{};
};

/// OUT/checkpoints, one folder a checkpoint: a complete Hugging Face folder, and beside it training.safetensors and
/// training.json. Folders appear and disappear whole.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path out) : out_(std::move(out)) {}

  Result<void> write(const CheckpointContent& content) const;
  /// Removes all but the newest `keep` and that of step `best`.
  void prune(std::int32_t keep, std::int64_t best) const;
  /// The newest complete one; nothing where there is none.
  std::optional<std::filesystem::path> newest() const;

  /// What a killed process had put aside and nothing has taken the place of (OUT/model, too) gets its name back.
  void put_back() const;
  /// Removes what killed processes left half written or half removed. Not while another process writes here.
  void clear_leftovers() const;

 private:
  std::vector<std::filesystem::path> oldest_first() const;
  std::filesystem::path folder() const { return out_ / "checkpoints"; }

  std::filesystem::path out_;
};

/// Gives the folder `staging` the name `path` on file systems that cannot exchange two names: what had it before is put
/// aside first, so for a moment nothing has the name.
Result<void> replace_by_renames(const std::filesystem::path& staging, const std::filesystem::path& path);

/// Writes a folder that appears whole, in the place of what had its name.
Result<void> write_network(const std::filesystem::path& path, const NetworkFolder& network);

}  // namespace tutti
