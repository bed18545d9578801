#include "cli/batch/batch_inputs.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/sha256.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKinds[] = {".wav", ".mp3", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".wma", ".aif",
                                       ".aiff", ".au", ".caf", ".mka", ".mp4", ".m4v", ".mkv", ".mov", ".webm", ".avi",
                                       ".mpg", ".mpeg", ".ts", ".3gp", ".wmv", ".flv", ".amr"};

bool is_recording(const fs::path& path) {
  std::string kind = path.extension().string();
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

Result<void> open_folder(const fs::path& folder, std::vector<std::string>& into) {
  std::error_code why;
  std::vector<std::string> found;
  for (auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, why);
       !why && at != fs::recursive_directory_iterator(); at.increment(why))
    if (at->is_regular_file() && is_recording(at->path())) found.push_back(at->path().string());
  if (why) return fail(Fault::missing, folder.string() + ": the folder cannot be read: " + why.message());
  std::ranges::sort(found);
  into.insert(into.end(), found.begin(), found.end());
  return {};
}

Result<std::vector<std::string>> recordings(const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (const auto& input : inputs) {
    std::error_code why;
    if (fs::is_directory(input, why)) {
      if (auto opened = open_folder(input, all); !opened) return tl::unexpected(opened.error());
    } else if (fs::exists(input, why)) {
      all.push_back(input);
    } else {
      return fail(Fault::missing, input + ": no such file or folder");
    }
  }
  return all;
}

InputIdentity identity_of(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_size, facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

}  // namespace

Result<std::vector<BatchTask>> batch_tasks(const BatchCommand& command, const std::string& fingerprint) {
  auto inputs = recordings(command.inputs);
  if (!inputs) return tl::unexpected(inputs.error());
  const auto skipped = std::min(inputs->size(), static_cast<std::size_t>(std::max(0, command.skip)));
  inputs->erase(inputs->begin(), inputs->begin() + static_cast<std::ptrdiff_t>(skipped));
  OutputOptions options{.folder = fs::absolute(command.output_dir).lexically_normal(),
                        .name_by = command.name_by == "path" ? NameBy::path : NameBy::stem};
  if (command.output_format != "all") options.formats = parse_formats(command.output_format).value();
  const auto planned = plan_outputs(*inputs, options);
  if (!planned) return tl::unexpected(planned.error());
  std::vector<BatchTask> tasks;
  tasks.reserve(planned->size());
  for (const auto& file : *planned) {
    const fs::path first = file.outputs.front();
    BatchTask task{.outputs = file.outputs};
    task.spec = {.key = first.parent_path() / first.stem(),
                 .batch = options.folder.string(),
                 .input = fs::absolute(file.input).lexically_normal().string(),
                 .identity = identity_of(file.input),
                 .options = fingerprint,
                 .name = file.input.filename().string()};
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::string fingerprint_of(BatchCommand& command, const fs::path& model, bool emulated) {
  OptionTable table("batch", "");
  add_speech(table, command.speech);
  std::string text = "model-path=" + model.string() + "\nformats=" + command.output_format + "\n";
  if (emulated) text += "emulated\n";
  if (!model.empty()) text += std::to_string(identity_of(model).modified_ns) + "\n";
  for (const auto& [name, value] : table.values())
    if (name != "model" && name != "model-dir" && name != "batch-size") text += name + "=" + value + "\n";
  Sha256 sum;
  sum.update(std::as_bytes(std::span(text)));
  return sum.hex();
}

}  // namespace tutti
