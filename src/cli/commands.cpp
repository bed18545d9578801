#include "cli/commands.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

#include "base/build_id.h"
#include "base/field_names.h"
#include "base/instruction_sets.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/process/process_setup.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/transcribe_command.h"
#include "link/query_engine.h"
#include "metrics/recording_request.h"

namespace tutti {
namespace {

void print_help() {
  std::puts(
      "Tutti keeps every GPU busy on speech work, and shows where the time goes when it can't.\n\n"
      "Usage: tutti COMMAND [OPTION]... [FILE]...\n\nCommands");
  for (const auto& command : commands()) std::printf("    %-14s%s\n", command.name.c_str(), command.summary.c_str());
  std::puts(
      "\n'tutti COMMAND --help' explains a command, 'tutti --version' prints both programs' build ids.\n"
      "Exit codes: 0 all done, 2 usage, 3 some file failed, 4 nothing could run, 5 a prediction\n"
      "did not hold (profile --prove), 130 interrupted.");
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"transcribe", "speech to text: txt, vtt, srt, tsv, json", run_transcribe},
      {"batch", "many recordings on every device, with nothing lost", run_batch_command},
      {"diarize", "who speaks when: the turns of speakers as RTTM", run_diarize},
      {"listen", "speech to text while it is spoken: captions from a pipe, a microphone or an address", run_listen},
      {"serve", "an HTTP service that OpenAI's clients speak to", run_serve},
      {"plan", "what fits where, how long a batch takes, how policies compare", run_plan},
      {"cost", "what transcribing costs: offers, a deadline or a budget, the bill of a batch", run_cost},
      {"prepare",
       "make sets to train on: of recordings with texts, or of labelled sounds",
       run_prepare,
       {"whisper", "classifier", "tts"}},
      {"train",
       "train a network: tutti train whisper|classifier|tts|vocoder ... --out DIR",
       run_train,
       {"whisper", "classifier", "tts", "vocoder"}},
      {"classify", "name the sounds in files, by a trained classifier", run_classify},
      {"say", "speak a text with a trained voice, into a WAV file", run_say},
      {"evaluate", "how well a model writes down a set of recordings", run_evaluate},
      {"features", "decode and compute features only: what audio costs without a model", run_features},
      {"convert", "write a JSON transcript, or a model, in another format", run_convert},
      {"review", "which finished transcripts to check by ear, and where", run_review},
      {"wer", "word and character error rate of two texts", run_wer},
      {"der", "diarization error rate: who speaks when, against the truth", run_der},
      {"pull", "fetch a model from a Hugging Face hub", run_pull},
      {"models", "models on this machine, and their folders", run_models},
      {"manifest", "write a manifest of recordings, from folders or a database", run_manifest},
      {"history", "past runs, their devices and speeds over time", run_history},
      {"queue", "make a queue of Amazon SQS for jobs, and see what is in it", run_queue, {"create", "status"}},
      {"send", "put a recording that is in S3 into such a queue", run_send},
      {"worker", "work on such a queue, or on a store that machines share", run_worker},
      {"synth",
       "make recordings with exactly known text: a corpus of Morse code",
       run_synth,
       {"morse", "voice", "leaks"}},
      {"bench", "compare devices, compute types and batch sizes on your audio", run_bench},
      {"profile", "where the time goes, what limits it, and what a change would gain", run_profile, {"train"}},
      {"top", "a running batch, or this machine's devices, live", run_top},
      {"doctor", "what this machine has, and what is missing", run_doctor},
      {"as",
       "transcribe by the command line of whisper or whisper-ctranslate2",
       run_as,
       {"whisper", "whisper-ctranslate2"}},
      {"completion",
       "the completion of commands and flags, for bash, zsh or fish",
       run_completion,
       {"bash", "zsh", "fish"}},
      {"man", "the manual page of a command", run_man},
  };
  return table;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.push_back(command.name);
  return names;
}

int print_versions() {
  std::printf("tutti %s\n", std::string(build_id()).c_str());
  const auto engine = engine_version();
  if (!engine) {
    log(Level::warning, engine.error().text());
    return kNothingRan;
  }
  std::printf("%s\n", engine->c_str());
  if (*engine == "tutti-engine " + std::string(build_id())) return kDone;
  log(Level::warning, "the engine is of another build; build or install both together");
  return kNothingRan;
}

namespace {

/// A deleted current folder fails at a different point of every command, in the libraries' words: better before all.
Result<void> standing_in_a_folder() {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (!error && !here.empty()) return {};
  return fail(Fault::missing, "the current folder no longer exists", "Change to one that does, e.g. cd \"$HOME\"");
}

/// A hint for a word that is no command. Other programs take their files there.
std::string hint_for(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(word, ignored))
    return "To transcribe it: " + command_line("tutti transcribe", {word});
  const std::string nearest = nearest_name(word, command_names());
  return nearest.empty() ? "See 'tutti --help'" : "Did you mean 'tutti " + nearest + "'?";
}

int run_named(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments == std::vector<std::string>{"help"}) {
    print_help();
    return arguments.empty() ? kUsage : kDone;
  }
  if (arguments[0] == "help") return run_named({arguments[1], "--help"});
  const std::string& name = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (name == "--version") return print_versions();
  for (const auto& command : commands())
    if (command.name == name) {
      if (const auto standing = standing_in_a_folder(); !standing) return complain(standing.error(), kNothingRan);
      return command.run(rest);
    }
  return complain({Fault::usage, "'" + name + "': no such command", hint_for(name)}, kUsage);
}

/// A broken promise of our own, or memory that ran out, is still reported in a line and by an exit code.
int run_guarded(const std::vector<std::string>& arguments) {
  try {
    return run_named(arguments);
  } catch (const std::bad_alloc&) {
    return complain({Fault::exhausted, "memory ran out", "Let this process have more (ulimit -v)"}, kNothingRan);
  } catch (const std::exception& error) {
    return complain({Fault::internal, std::string("stopped by an unexpected error: ") + error.what(),
                     "This should not happen: please report it with the command"},
                    kNothingRan);
  }
}

}  // namespace

int run_tutti(const std::vector<std::string>& arguments) {
  set_field_names(FieldNames::flags);
  set_recording_request(RecordingRequest::of_environment());
  if (const auto& instructions = requested_instructions(); !instructions) return complain(instructions.error(), kUsage);
  const int code = run_guarded(arguments);
  const auto flushed = flush_standard_output();
  if (flushed) return code;
  complain(flushed.error(), kSomeFailed);
  return code == kDone ? kSomeFailed : code;
}

}  // namespace tutti
