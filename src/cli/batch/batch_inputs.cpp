#include "cli/batch/batch_inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/flags.h"
#include "hub/files_of_model.h"
#include "hub/model_shape.h"
#include "text/manifest/read.h"
#include "text/manifest/write.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

InputIdentity identity_of(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_size, facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

/// One input's outputs without their formats' extensions; `taken` remembers whose each is.
Result<std::string> base_of(const Input& input, const OutputOptions& options,
                            std::map<std::string, std::string>& taken) {
  std::string base = options.folder / (options.name_by == NameBy::stem ? input.name().stem() : input.below);
  const auto [other, fresh] = taken.emplace(base, input.file.string());
  if (fresh) return base;
  return fail(
      Fault::usage, "'" + other->second + "' and '" + input.file.string() + "' would both be written to " + base + ".*",
      options.name_by == NameBy::stem ? "Use --name-by path" : "Name a folder above both, or use two --output-dir");
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
                   .identity = identity_of(input.file),
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
  return "Files in folders: " + text + (helps ? ". --all-files tries those as well" : "");
}

void report_left_out(const InputTally& read, const ManifestRules& rules, std::size_t with_whole_path) {
  if (const std::string out = folders_text(read.folders); !out.empty()) log(Level::info, out);
  if (const std::string out = left_out_text(read, rules); !out.empty())
    log(Level::info, "Left out of what the lists name: " + out);
  if (with_whole_path > 0)
    log(Level::info, "Recordings whose outputs keep the whole path below --output-dir: " +
                         std::to_string(with_whole_path) + "; --audio-root DIR begins the tree at DIR");
}

}  // namespace

fs::path output_folder(const BatchCommand& command) {
  return is_object(command.output_dir) ? command.output_dir : fs::absolute(command.output_dir).lexically_normal();
}

Result<std::vector<BatchJob>> batch_jobs(const BatchCommand& command, const std::string& fingerprint,
                                         InputTally* tally) {
  OutputOptions options{.folder = output_folder(command),
                        .name_by = command.name_by == "path" ? NameBy::path : NameBy::stem};
  if (command.output_format != "all") options.formats = parse_formats(command.output_format).value();
  const InputOptions wanted{.audio_root = command.audio_root,
                            .rules = {.path_template = command.path_template},
                            .skip = command.skip,
                            .all_files = command.all_files,
                            .addresses = true};
  std::vector<BatchJob> jobs;
  std::map<std::string, std::string> taken;
  std::size_t with_whole_path = 0;
  std::optional<Error> wrong;
  const auto take = [&](Input&& input) {
    auto base = base_of(input, options, taken);
    if (!base) {
      wrong = base.error();
      return false;
    }
    if (options.name_by == NameBy::path && keeps_whole_path(input)) ++with_whole_path;
    jobs.push_back(job_of(std::move(input), std::move(*base), fingerprint, options));
    return true;
  };
  const InputSink sink{take, [](Error&& error) { log(Level::warning, error.text()); }};
  const auto read = TRY(read_inputs(command.inputs, wanted, sink));
  report_left_out(read, wanted.rules, with_whole_path);
  if (tally) *tally = read;
  if (wrong) return tl::unexpected(*wrong);
  const std::string behind =
      command.skip > 0 ? " behind the first " + std::to_string(command.skip) + ", which --skip leaves out" : "";
  if (jobs.empty())
    return fail(Fault::missing,
                "no recording was found among the inputs" + behind + ": " + joined(command.inputs, ", ") +
                    (read.folders.left_out() > 0 ? " (" + folder_text(read.folders) + ")" : ""),
                "A folder is searched for files with the endings of audio and video, with --all-files for all; a file "
                "that is named itself is taken whatever it is called");
  return jobs;
}

Result<std::string> fingerprint_of(BatchCommand& command, const fs::path& model, bool emulated, bool is_shared) {
  // "auto" and "en-US" are the same work as None and "en".
  command.speech.language = plain_language(command.speech.language);
  // What auto comes to: batches of before it was there do not start again.
  TranscribeCommand settled = command.speech;
  if (settled.vad.method == "auto") settled.vad.method = is_keyed(model) ? "keying" : "silero";
  OptionTable table("batch", "");
  add_speech(table, settled);
  std::string text = "formats=" + command.output_format + "\n";
  if (command.other) text += "engine=" + command.other->name + "\nmodel=" + model.string() + "\n";
  if (!is_shared && !command.other) text = "model-path=" + model.string() + "\n" + text;
  if (emulated) text += "emulated\n";
  if (command.other) {
    // Its models are its own, known by their names.
  } else if (is_shared && !model.empty()) {
    const auto digest = digest_of_model(model);
    if (!digest) return digest;
    text += "model=" + *digest + "\n";
  } else if (!model.empty()) {
    text += std::to_string(identity_of(model).modified_ns) + "\n";
  }
  const auto is_unset = [](const std::string& name, const std::string& value) {  // they are newer than stores
    static constexpr std::array<std::string_view, 5> kNewer{"track", "channel", "replace", "hotwords-file",
                                                            "paragraphs"};
    return std::ranges::find(kNewer, name) != kNewer.end() && (value.empty() || is_none(value));
  };
  const auto is_of_no_speakers = [&](const std::string& name) {
    static constexpr std::array<std::string_view, 8> kSpeakers{"diarize",         "num-speakers",   "min-speakers",
                                                               "max-speakers",    "speaker",        "speakers-from",
                                                               "diarize-quality", "save-embeddings"};
    return !command.speech.diarize.diarize && std::ranges::find(kSpeakers, name) != kSpeakers.end();
  };
  // What is in these files counts, not where they are.
  for (const auto& [name, file] :
       {std::pair("replace", &command.speech.replace), std::pair("hotwords-file", &command.speech.hotwords_file)}) {
    if (file->empty()) continue;
    const auto content = TRY(read_file(*file));
    text += std::string(name) + "=" + sha256_of(content) + "\n";
  }
  for (const auto& [name, value] : table.values())
    if (!is_unset(name, value) && !is_of_no_speakers(name) && name != "model" && name != "model-dir" &&
        name != "batch-size" && name != "replace" && name != "hotwords-file")
      text += name + "=" + value + "\n";
  return sha256_of(text);
}

}  // namespace tutti
