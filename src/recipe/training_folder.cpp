#include "recipe/training_folder.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>

#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/output_ownership.h"
#include "base/try.h"
#include "recipe/checkpoint_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

bool has_checkpoints(const fs::path& out) {
  std::error_code ignored;
  return std::ranges::any_of(fs::directory_iterator(out / "checkpoints", ignored), [](const auto& entry) {
    return entry.path().filename().string().starts_with(kStepPrefix) && is_there(entry.path() / "training.json");
  });
}

/// A training was begun there; those of older versions left checkpoints alone.
bool is_training_folder(const fs::path& out) {
  return is_there(out / kTrainingLock) || has_checkpoints(out);
}

/// What a training writes in OUT, beside checkpoints and model.
constexpr const char* kFiles[] = {"config.toml", "metrics.jsonl", "order.jsonl", "bad_samples.jsonl",
                                  "loss.svg",    "events",        "tuning.jsonl"};

/// Fault::usage where something in OUT has a name that a training writes to, and none has trained there.
Result<void> expect_own_files(const fs::path& out) {
  if (is_training_folder(out)) return {};
  std::vector<std::string> names(std::begin(kFiles), std::end(kFiles));
  names.insert(names.end(), {"model", "checkpoints", "tuning-trial"});
  for (const auto& name : names) {
    std::error_code ignored;
    const fs::path path = out / name;
    const bool is_empty_folder = fs::is_directory(path, ignored) && fs::is_empty(path, ignored);
    if (is_taken(path) && !is_empty_folder)
      return fail(Fault::usage, path.string() + " is there already and is none of this training",
                  "Move it away, or name another folder with " + field("out"));
  }
  return {};
}

/// Fault::usage where a file that is read is one that a training writes in OUT. A training that goes on reads its own
/// settings.
Result<void> expect_no_source_written(const fs::path& out, const std::vector<fs::path>& sources, bool resumes) {
  for (const fs::path name : kFiles)
    for (const auto& source : sources)
      if (const auto number = number_of(out / name);
          number && number == number_of(source) && !(resumes && name == "config.toml"))
        return fail(Fault::usage, (out / name).string() + " is an input itself and would be overwritten",
                    "Keep it elsewhere, or name another folder with " + field("out"));
  return {};
}

}  // namespace

Result<void> expect_newest_checkpoint(const fs::path& out, const fs::path& checkpoint) {
  const std::string requested = "resume-from " + checkpoint.string();
  const fs::path named = (checkpoint / "").parent_path(), folder = out / "checkpoints";
  std::error_code ignored;
  const auto called = named.filename().string();
  if (called.starts_with(kStoppedPrefix))
    return fail(Fault::usage, requested + ": this is what a training had come to when it gave up",
                "To go on from it, call it " + called.substr(kStoppedPrefix.size()) + " first");
  const bool is_one = called.starts_with(kStepPrefix);  // no damaged one, which was put aside
  if (!is_one || !fs::exists(named / "training.json", ignored))
    return fail(Fault::missing, requested + ": no checkpoint of a training is there",
                "Expected a folder OUT/checkpoints/step-N");
  if (!fs::equivalent(fs::absolute(named).parent_path(), folder, ignored))
    return fail(Fault::usage, requested + ": it is none of this training, whose checkpoints are in " + folder.string(),
                "Name its own OUT with " + field("out"));
  for (const auto& other : fs::directory_iterator(folder, ignored)) {
    const auto name = other.path().filename();
    if (name.string().starts_with(kStepPrefix) && name > called)
      return fail(Fault::usage, requested + ": " + folder.string() + " holds a newer one, " + name.string(),
                  "Leave resume-from out to go on from the newest, or move the newer ones away");
  }
  return {};
}

Result<void> expect_set_unused(const fs::path& out) {
  if (has_checkpoints(out) || has_checkpoints(out / kScreenFolder))
    return fail(Fault::usage, out.string() + " holds a training already, and its set would be replaced",
                "Continue it with " + field("resume") + ", or name another folder with " + field("out"));
  if (!is_there(out / kTrainingLock)) return {};
  const auto held = take_hold({.file = out / kTrainingLock,
                               .other = out.string() + ": another process is training into this folder",
                               .unnoticed = "a training into " + out.string(),
                               .way_out = "Wait for it to end, or name another folder with " + field("out")});
  return held ? Result<void>() : tl::unexpected<Error>(held.error());
}

Result<void> expect_training_folder(const fs::path& out, std::vector<fs::path> sources, bool resumes) {
  const std::string way_out = "Name another folder with " + field("out");
  OutputOwnership files(way_out);
  std::erase_if(sources, [](const fs::path& path) { return path.empty(); });
  for (const auto& path : sources) {
    TRY(expect_other_out(out, path));
    files.add_input(path);
  }
  for (const char* folder : {"model", "checkpoints"}) TRY(files.expect_no_input_in(out / folder));
  TRY(expect_no_source_written(out, sources, resumes));
  TRY(expect_own_files(out));
  if (!resumes && is_there(out / "model") && !is_there(out / "checkpoints"))
    return fail(Fault::usage, (out / "model").string() + " is there already and is none of this training", way_out);
  return {};
}

}  // namespace tutti
