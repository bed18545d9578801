#include "cli/batch/batch_inputs.h"

#include <algorithm>

#include "base/files.h"
#include "base/sha256.h"
#include "base/try.h"
#include "cli/flags.h"
#include "hub/files_of_model.h"
#include "hub/model_shape.h"
#include "transcribe/output_plan.h"

namespace tutti {

namespace fs = std::filesystem;

fs::path output_folder(const BatchCommand& command) {
  return is_object(command.output_dir) ? command.output_dir : fs::absolute(command.output_dir).lexically_normal();
}

Result<ListedJobs> batch_jobs(const BatchCommand& command, const std::string& fingerprint) {
  OutputOptions options{.folder = output_folder(command),
                        .name_by = command.name_by == "path" ? NameBy::path : NameBy::stem};
  if (command.output_format != "all") options.formats = parse_formats(command.output_format).value();
  const InputOptions wanted{.audio_root = command.audio_root,
                            .rules = {.path_template = command.path_template},
                            .skip = command.skip,
                            .all_files = command.all_files,
                            .addresses = true};
  return list_jobs(command.inputs, wanted, options, fingerprint);
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
    text += std::to_string(file_identity(model).modified_ns) + "\n";
  }
  const auto is_unset = [](const std::string& name, const std::string& value) {  // they are newer than stores
    static constexpr std::array<std::string_view, 6> kNewer{"track",         "channel",    "replace",
                                                            "hotwords-file", "paragraphs", "target-hz"};
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
