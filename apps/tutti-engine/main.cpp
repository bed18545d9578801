// The engine: everything that touches tensors, started and watched by `tutti`. Its command line is for programs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/mel/mel_kernel.h"
#include "base/build_id.h"
#include "base/field_names.h"
#include "base/instruction_sets.h"
#include "base/process/exit_code.h"
#include "base/process/process_setup.h"
#include "base/program_paths.h"
#include "metrics/recording_request.h"
#include "model/convert/command.h"
#include "train/command.h"
#include "worker/commands.h"
#include "worker/compute_type.h"

namespace {

/// As model files of whisper.cpp have them: [n_mels, bins], zeros included.
std::vector<float> mel_filter_bank(std::int32_t n_mels) {
  std::vector<float> bank;
  for (const auto& filter : tutti::mel_filters(n_mels)) {
    const auto begin = bank.insert(bank.end(), tutti::kMelBins, 0.0F);
    std::ranges::copy(filter.weights, begin + filter.first_bin);
  }
  return bank;
}

/// What transcribing would take, so that a model is evaluated as it is going to be used.
tutti::Result<tutti::ComputeType> compute_type(const std::string& name, const std::filesystem::path& model,
                                               at::Device device) {
  return tutti::compute_type_for(name, model, device, tutti::build_id());
}

constexpr const char* kHelp =
    "tutti-engine runs models for `tutti`, which starts and stops it by itself.\n"
    "To transcribe, use: tutti transcribe FILE...\n"
    "\n"
    "  tutti-engine worker --fd N   serve the control process at the other end of socket N\n"
    "  tutti-engine convert ...     write a model in another form, for: tutti convert MODEL -o FOLDER\n"
    "  tutti-engine train ...       train a network, for: tutti train\n"
    "  tutti-engine classify ...    name the sounds in files, for: tutti classify\n"
    "  tutti-engine say ...         speak a text, for: tutti say\n"
    "  tutti-engine evaluate ...    evaluate a model on a set, for: tutti evaluate\n"
    "  tutti-engine evaluate-classifier ..., evaluate-voice ...   the same, of a classifier or a voice\n"
    "  tutti-engine plan-training ...     what a training takes of GPUs, for: tutti plan --train\n"
    "  tutti-engine limits ...      what bounds a model on a device, for `tutti bench`\n"
    "  tutti-engine --version       print the build id\n";

/// The engine plays no emulated GPUs and decodes in children of the `tutti` beside it, unless its caller names another.
tutti::ProgramPaths engine_paths() {
  auto paths = tutti::ProgramPaths::of("/proc/self/exe");
  paths.tutti = paths.self.parent_path() / "tutti";
  return paths;
}

}  // namespace

int main(int argc, char** argv) {
  tutti::outlive_file_size_limit();
  tutti::keep_ends_of_children();
  tutti::set_program_paths(engine_paths());
  tutti::set_field_names(tutti::FieldNames::flags);
  tutti::set_recording_request(tutti::RecordingRequest::of_environment());
  if (const auto& instructions = tutti::requested_instructions(); !instructions) {
    std::fprintf(stderr, "tutti-engine: %s\n", instructions.error().text().c_str());
    return tutti::kUsage;
  }
  const std::span arguments(argv + 1, argv + argc);
  const std::string_view command = arguments.empty() ? "" : arguments[0];
  if (command == "worker") {
    const int code = tutti::worker_command(arguments.subspan(1), {.build_id = std::string(tutti::build_id())});
    // Libtorch takes 0.15 s to put itself away, and the parent waits for our end; the kernel takes everything back at
    // once.
    std::fflush(nullptr);
    std::_Exit(code);
  }
  if (command == "convert") return tutti::convert_command(arguments.subspan(1), mel_filter_bank);
  if (command == "train") return tutti::train_command(arguments.subspan(1));
  if (command == "classify") return tutti::classify_command(arguments.subspan(1));
  if (command == "say") return tutti::say_command(arguments.subspan(1));
  if (command == "evaluate-voice") return tutti::evaluate_voice_command(arguments.subspan(1));
  if (command == "evaluate-classifier") return tutti::evaluate_classifier_command(arguments.subspan(1));
  if (command == "plan-training") return tutti::plan_training_command(arguments.subspan(1));
  if (command == "evaluate") return tutti::evaluate_command(arguments.subspan(1), compute_type);
  if (command == "limits") return tutti::limits_command(arguments.subspan(1));
  if (command == "--version") {
    std::printf("tutti-engine %s\n", std::string(tutti::build_id()).c_str());
    return tutti::kDone;
  }
  const bool is_help = command == "--help" || command == "-h";
  if (!is_help) {
    std::fprintf(stderr, "tutti-engine: %s\n\n",
                 command.empty() ? "no command was given" : ("no command " + std::string(command)).c_str());
  }
  std::fputs(kHelp, is_help ? stdout : stderr);
  return is_help ? tutti::kDone : tutti::kUsage;
}
