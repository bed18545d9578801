#include "worker/automatic_type.h"

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "worker/self_test.h"

namespace tutti {
namespace {

/// Sizes and times of the model's files: another content is another model.
std::string state_of(const std::filesystem::path& model) {
  std::error_code ignored;
  std::vector<std::string> files;
  const auto add = [&](const std::filesystem::path& file) {
    const auto time = std::filesystem::last_write_time(file, ignored).time_since_epoch().count();
    files.push_back(file.filename().string() + " " + std::to_string(std::filesystem::file_size(file, ignored)) + " " +
                    std::to_string(time));
  };
  if (std::filesystem::is_directory(model)) {
    for (const auto& entry : std::filesystem::directory_iterator(model, ignored)) {
      if (entry.is_regular_file(ignored)) add(entry.path());
    }
  } else {
    add(model);
  }
  std::ranges::sort(files);
  std::string state = std::filesystem::weakly_canonical(model, ignored).string();
  for (const auto& file : files) state += "\n" + file;
  return state;
}

std::filesystem::path result_file(const SelfTestScope& scope) {
  const std::string key = scope.device + "\n" + scope.build + "\n" + state_of(scope.model);
  return cache_folder() / "self-tests" / sha256_of(key);
}

/// "int8 (12.1 ms a window), the fastest of float32 (80.0 ms), bfloat16 (20.0 ms), ...".
std::string account_of(const TypeTrial& best, std::span<const TypeTrial> trials) {
  const auto timed = [](const TypeTrial& trial) {
    if (trial.no_memory) return "no memory for " + std::string(trial.type.name());
    const bool sound = trial.likeness >= kSound;
    return std::string(trial.type.name()) + " " + fixed_text(trial.seconds * 1000, 1) + " ms" +
           (sound ? "" : " but unlike float32");
  };
  std::string account = "fastest in the self-test, per window:";
  for (const auto& trial : trials) account += (&trial == &trials.front() ? " " : ", ") + timed(trial);
  return best.type == ComputeType::float32 && trials.size() == 1 ? "the device has no other" : account;
}

/// A self-test's result as it is on disk: the type's name, a line break, the account.
std::optional<ComputeChoice> remembered(const std::filesystem::path& file) {
  const auto text = read_regular_file(file);
  if (!text) return std::nullopt;
  const auto end = text->find('\n');
  const auto type = ComputeType::named(std::string_view(*text).substr(0, end));
  if (!type || end == std::string::npos) return std::nullopt;
  return ComputeChoice{*type, text->substr(end + 1)};
}

/// The device's usual type. Not remembered: next time there may be more memory.
Result<ComputeChoice> untested(const DeviceAbility& ability, const Error& why) {
  auto usual = choose_compute_type("float16", ability);
  if (usual) usual->why = why.what;
  return usual;
}

}  // namespace

Result<ComputeChoice> automatic_type(const SelfTestScope& scope, at::Device device, const DeviceAbility& ability) {
  const auto file = result_file(scope);
  if (const auto known = remembered(file)) return *known;
  log(Level::info,
      "compute type auto: trying what this device can do with " + scope.model.string() + "; the result is remembered");
  const auto trials = try_types(scope.model, device, ability);
  if (!trials && trials.error().fault == Fault::exhausted) return untested(ability, trials.error());
  if (!trials) return tl::unexpected<Error>(trials.error());
  return conclude(*trials, file);
}

ComputeChoice conclude(std::span<const TypeTrial> trials, const std::filesystem::path& file) {
  const auto& best = fastest_sound(trials);
  ComputeChoice choice{best.type, account_of(best, trials)};
  if (std::ranges::any_of(trials, &TypeTrial::no_memory)) return choice;
  const auto kept = write_file_atomically(file, std::string(choice.type.name()) + "\n" + choice.why);
  if (!kept) log(Level::warning, "the self-test will be made again next time: " + kept.error().text());
  return choice;
}

}  // namespace tutti
