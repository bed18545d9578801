#include "transcribe/output_plan.h"

#include <algorithm>
#include <climits>
#include <map>

#include "base/error.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/try.h"
#include "cloud/queue_url.h"
#include "transcribe/inputs/address.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::string other_folder() {
  return "Name another folder with " + field("output_dir");
}

/// The deepest folder all files among the inputs lie in.
fs::path common_folder(const std::vector<std::string>& inputs) {
  fs::path common;
  bool first = true;
  for (const auto& input : inputs) {
    if (input == "-") continue;
    const fs::path folder = fs::absolute(input).lexically_normal().parent_path();
    if (first) common = folder;
    first = false;
    fs::path shared;
    for (auto a = common.begin(), b = folder.begin(); a != common.end() && b != folder.end() && *a == *b; ++a, ++b)
      shared /= *a;
    common = shared;
  }
  return common;
}

/// Output path without its format's extension.
fs::path base_of(const std::string& input, const OutputOptions& options, const fs::path& common) {
  if (input == "-") return options.folder / "stdin";
  const fs::path path(input), named = path.has_filename() ? path : path.parent_path();  // "talks/" is called talks
  if (options.name_by == NameBy::stem) return options.folder / named.stem();
  return options.folder / fs::absolute(input).lexically_normal().lexically_relative(common);
}

/// talk.mp3 and ./talk.mp3, which every way of naming outputs maps to one name.
bool are_one(const std::string& a, const std::string& b) {
  return fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
}

bool newer_than_input(const PlannedFile& file) {
  std::error_code error;
  const auto changed = fs::last_write_time(file.input, error);
  if (error) return false;
  return std::all_of(file.outputs.begin(), file.outputs.end(), [&](const fs::path& output) {
    const auto written = fs::last_write_time(output, error);
    return !error && written >= changed;
  });
}

/// Checks that an output can be written. A folder of its name, or a name that is too long for one, would be in the way
/// when all the work is done.
Result<void> expect_folder(const fs::path& output) {
  if (auto named = expect_name(output); !named) return named;
  std::error_code ignored;
  if (fs::is_directory(output, ignored))
    return fail(Fault::usage, output.string() + ": expected to write an output there, found a folder of this name",
                "Move it away, or name another folder with " + field("output_dir"));
  return {};
}

/// The folders of all outputs that are still to be written.
std::set<fs::path> folders_of(const std::vector<PlannedFile>& plan) {
  std::set<fs::path> folders;
  for (const auto& file : plan)
    if (!file.already_done)
      for (const auto& output : file.outputs) folders.insert(folder_of(output));
  return folders;
}

tl::unexpected<Error> no_folder(const fs::path& folder, const std::error_code& why) {
  return tl::unexpected(system_error(folder.string(), "outputs cannot be written there", why.value()));
}

}  // namespace

OutputOwnership ownership_of(const std::vector<PlannedFile>& plan) {
  OutputOwnership files(other_folder());
  for (const auto& file : plan) files.add_input(file.input);
  return files;
}

Result<void> expect_none_read(const std::vector<PlannedFile>& plan, std::span<const fs::path> read) {
  OutputOwnership files(other_folder());
  for (const auto& path : read)
    if (!path.empty()) files.add_input(path);
  for (const auto& file : plan)
    for (const auto& output : file.outputs)
      if (auto free = files.expect_no_input(output); !free) return free;
  return {};
}

Result<void> expect_name(const fs::path& output) {
  if (is_s3_path(output)) return parse_s3_path(output).map([](const S3Path&) {});
  const auto too_long = [&](const char* what, std::size_t most, std::size_t found) {
    return fail(Fault::usage,
                output.string() + ": expected a " + what + " of at most " + std::to_string(most) + " bytes, found " +
                    std::to_string(found),
                "Rename the input");
  };
  if (const std::size_t found = output.filename().native().size(); found > NAME_MAX)
    return too_long("name", NAME_MAX, found);
  constexpr std::size_t kLongestPath = PATH_MAX - 1;  // which counts the zero behind it
  if (const std::size_t found = output.native().size(); found > kLongestPath)
    return too_long("path", kLongestPath, found);
  return {};
}

Result<void> expect_names(const std::vector<fs::path>& outputs) {
  for (const auto& output : outputs)
    if (auto named = expect_name(output); !named) return named;
  return {};
}

Result<std::vector<PlannedFile>> plan_outputs(const std::vector<std::string>& inputs, const OutputOptions& options) {
  if (is_address(options.folder.native()))
    return fail(Fault::usage, field("output_dir") + ": expected a folder, found the address " + options.folder.string(),
                "Name a folder; 'tutti batch' also writes to s3://BUCKET/FOLDER");
  std::map<std::string, std::string> taken;  // output base -> input
  OutputOwnership files(other_folder());
  for (const auto& input : inputs) {
    TRY(expect_local(input));
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) files.add_input(input);  // that it is one is reported when it is opened
  }
  const fs::path common = options.name_by == NameBy::path ? common_folder(inputs) : fs::path();
  std::vector<PlannedFile> plan;
  for (const auto& input : inputs) {
    const fs::path base = base_of(input, options, common);
    const auto [other, fresh] = taken.emplace(base.string(), input);
    if (!fresh)
      return fail(
          Fault::usage, "'" + other->second + "' and '" + input + "' would both be written to " + base.string() + ".*",
          are_one(other->second, input) || options.name_by == NameBy::path
              ? "Name each input once"
              : "Use " + field("name_by") + " path, or different " + field("output_dir") + " folders in two runs");
    PlannedFile file{.input = input, .outputs = {}};
    for (const auto& format : options.formats) {
      file.outputs.emplace_back(base.string() + "." + std::string(extension(format)));
      TRY(expect_folder(file.outputs.back()));
      TRY(files.claim(file.outputs.back(), input));
    }
    file.already_done = options.skip_existing && input != "-" && newer_than_input(file);
    plan.push_back(std::move(file));
  }
  return plan;
}

Result<void> make_folders_of(const std::vector<PlannedFile>& plan) {
  for (const auto& folder : folders_of(plan)) {
    std::error_code why;
    fs::create_directories(folder, why);
    if (!why) why = why_not_writable(folder);
    if (why) return no_folder(folder, why);
  }
  return {};
}

Result<void> expect_folders_of(const std::vector<PlannedFile>& plan) {
  for (const auto& folder : folders_of(plan))
    if (auto folder_exists = expect_output_folder(folder); !folder_exists) return folder_exists;
  return {};
}

Result<void> expect_output_folder(const fs::path& folder) {
  if (const auto why = why_not_writable(folder)) return no_folder(folder, why);
  return {};
}

}  // namespace tutti
