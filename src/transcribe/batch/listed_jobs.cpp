#include "transcribe/batch/listed_jobs.h"

#include <sys/stat.h>

#include <map>
#include <optional>
#include <utility>

#include "base/field_names.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "text/manifest/read.h"
#include "text/manifest/write.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// One input's outputs without their formats' extensions; `taken` remembers whose each is.
Result<std::string> base_of(const Input& input, const OutputOptions& options,
                            std::map<std::string, std::string>& taken) {
  std::string base = options.folder / (options.name_by == NameBy::stem ? input.name().stem() : input.below);
  const auto [other, fresh] = taken.emplace(base, input.file.string());
  if (fresh) return base;
  return fail(Fault::usage,
              "'" + other->second + "' and '" + input.file.string() + "' would both be written to " + base + ".*",
              options.name_by == NameBy::stem ? "Use " + field("name_by") + " path"
                                              : "Name a folder above both, or use two " + field("output_dir"));
}

/// An id for a recording whose list gives it none, in the form that the note's have: always the same for the same file.
std::string id_of(const fs::path& input) {
  return uuid_of("tutti recording " + input.string());
}

BatchJob job_of(Input input, std::string base, const std::string& fingerprint, const OutputOptions& options) {
  const std::string own_name = input.name().string();
  ManifestEntry& entry = input.entry;
  return {.spec = {.key = std::move(base),
                   .batch = options.folder.string(),
                   .input = input.file.string(),
                   .identity = file_identity(input.file),
                   .options = fingerprint,
                   .audio = entry.duration,
                   .length = entry.duration ? LengthSource::claimed : LengthSource::unknown,
                   .job_class = entry.job_class.value_or(JobClass::batch),
                   .priority = entry.priority,
                   .deadline = entry.deadline,
                   .uuid = entry.id.empty() ? id_of(input.file) : std::move(entry.id),
                   .name = entry.name.empty() ? own_name : std::move(entry.name),
                   .extra = std::move(entry.extra)},
          .formats = options.formats};
}

/// Whether an absolute path is outside every tree that was named, so that its folders are put below the outputs'.
bool keeps_whole_path(const Input& input) {
  return fs::path(input.entry.path).is_absolute() && input.below.has_parent_path() &&
         input.below == input.file.relative_path();
}

/// What was found in folders and left out, and how it would be taken.
std::string folders_text(const FolderTally& folders) {
  const std::string text = folder_text(folders);
  if (text.empty()) return {};
  const bool helps = folders.other_names + folders.hidden > 0;
  return "Files in folders: " + text + (helps ? ". " + field("all_files") + " tries those as well" : "");
}

void report_left_out(const InputTally& read, const ManifestRules& rules, std::size_t with_whole_path) {
  if (const std::string out = folders_text(read.folders); !out.empty()) log(Level::info, out);
  if (const std::string out = left_out_text(read, rules); !out.empty())
    log(Level::info, "Left out of what the lists name: " + out);
  if (with_whole_path > 0)
    log(Level::info, "Recordings whose outputs keep the whole path below " + field("output_dir") + ": " +
                         std::to_string(with_whole_path) + "; " + field("audio_root") + " DIR begins the tree at DIR");
}

}  // namespace

InputIdentity file_identity(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_size, facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

Result<ListedJobs> list_jobs(const std::vector<std::string>& inputs, const InputOptions& wanted,
                             const OutputOptions& outputs, const std::string& fingerprint) {
  std::vector<BatchJob> jobs;
  std::map<std::string, std::string> taken;
  std::size_t with_whole_path = 0;
  std::optional<Error> wrong;
  const auto take = [&](Input&& input) {
    auto base = base_of(input, outputs, taken);
    if (!base) {
      wrong = base.error();
      return false;
    }
    if (outputs.name_by == NameBy::path && keeps_whole_path(input)) ++with_whole_path;
    jobs.push_back(job_of(std::move(input), std::move(*base), fingerprint, outputs));
    return true;
  };
  const InputSink sink{take, [](Error&& error) { log(Level::warning, error.text()); }};
  auto read = TRY(read_inputs(inputs, wanted, sink));
  report_left_out(read, wanted.rules, with_whole_path);
  if (wrong) return tl::unexpected(*wrong);
  const std::string behind =
      wanted.skip > 0 ? " behind the first " + std::to_string(wanted.skip) + ", which " + field("skip") + " leaves out"
                      : "";
  if (jobs.empty())
    return fail(Fault::missing,
                "no recording was found among the inputs" + behind + ": " + joined(inputs, ", ") +
                    (read.folders.left_out() > 0 ? " (" + folder_text(read.folders) + ")" : ""),
                "A folder is searched for files with the endings of audio and video, with " + field("all_files") +
                    " for all; a file that is named itself is taken whatever it is called");
  return ListedJobs{std::move(jobs), std::move(read)};
}

}  // namespace tutti
