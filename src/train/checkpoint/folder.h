#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"
#include "train/checkpoint/training_state.h"
#include "train/parameter.h"

namespace tutti {

/// Writes FOLDER/digests.json: what the named files of the folder hold now. `others` were written with them and may
/// change.
Result<void> write_digests(const std::filesystem::path& folder, const std::vector<std::string>& files,
                           const std::vector<std::string>& others = {});

/// All that FOLDER/digests.json names, and itself; without one, empty.
std::set<std::string> written_files(const std::filesystem::path& folder);

/// FOLDER/digests.json, where there is one, with what this file of it holds now; the others hold what they held.
Result<void> renew_digest(const std::filesystem::path& folder, const std::string& file);

/// Fault::corrupt where a file does not match its digest in digests.json any more. A checkpoint that an older version
/// wrote without digests passes.
Result<void> check_digests(const std::filesystem::path& folder);

/// A training's hold (take_hold) on its folder OUT, which is made. Another training into it would clear away what this
/// one is writing, and both would write one metrics.jsonl.
Result<OwnedFd> hold_folder(const std::filesystem::path& out, Seconds patience = Seconds(10));

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

/// OUT/checkpoints, one folder a checkpoint: a complete Hugging Face folder, and beside it training.safetensors,
/// training.json and the digests of all three. Folders appear and disappear whole.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path out) : out_(std::move(out)) {}

  Result<void> write(const CheckpointContent& content) const;
  /// The checkpoint of this state's step, which is there, with this state. Its tensors are not written again.
  Result<void> amend(const TrainingState& state) const;
  /// Under another name (kStoppedPrefix), which is neither gone on from nor pruned: to go on from it a user gives it
  /// the name of its step.
  Result<void> write_aside(const CheckpointContent& content) const;
  /// Removes all but the newest `keep`, that of step `best`, and those that hold files which no training wrote.
  void prune(std::int32_t keep, std::int64_t best) const;
  /// The path of a step's checkpoint, if it exists.
  std::filesystem::path of_step(std::int64_t step) const;
  std::filesystem::path aside_of_step(std::int64_t step) const;
  /// The complete ones, as far as their names tell.
  std::vector<std::filesystem::path> newest_first() const;
  /// Gives those of later steps than `step` other names ("damaged-step-N"): a training goes on from there because they
  /// could not be read, and must not come upon them again.
  void set_aside_behind(std::int64_t step) const;

  /// Restores the name of what a killed process had put aside and nothing has replaced (OUT/model, too).
  void put_back() const;
  /// Removes what killed processes left half written or half removed. Not while another process writes here.
  void clear_leftovers() const;

 private:
  std::filesystem::path folder() const { return out_ / "checkpoints"; }

  std::filesystem::path out_;
};

/// Gives the folder `staging` the name `path` on file systems that cannot exchange two names: what had it before is put
/// aside first, so for a moment nothing has the name.
Result<void> replace_by_renames(const std::filesystem::path& staging, const std::filesystem::path& path);

/// Writes a folder that appears whole and replaces what had its name. What no training wrote there stays in it.
Result<void> write_network(const std::filesystem::path& path, const NetworkFolder& network);

}  // namespace tutti
