#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/diarize/diarize_flags.h"
#include "cli/flags.h"
#include "cli/flags/speech_flags.h"
#include "cli/flags/transcript_flags.h"
#include "settings/option_table.h"
#include "transcribe/output_plan.h"
#include "transcribe/run.h"

namespace tutti {

/// The command line of `tutti transcribe`, in openai-whisper's names. Turned into TranscribeOptions by `run_options`.
struct TranscribeCommand {
  std::vector<std::string> files{};
  std::string model{};
  std::filesystem::path model_dir{};
  std::string device = "auto";
  std::string compute_type = "default";
  bool fp16 = true;
  std::optional<std::int32_t> threads = 0;  // 0 and None, the reference's default: one per core
  std::string batch_size = "auto";
  bool deterministic = false;
  std::int32_t files_at_once = 0;
  TuningFlags tuning{};

  std::filesystem::path output_dir = ".";
  std::string output_format = "all";
  std::string name_by = "stem";
  bool skip_existing = false;
  std::optional<bool> verbose = true;
  bool quiet = false;
  bool json = false;
  bool dry_run = false;
  std::filesystem::path trace{};

  VadFlags vad{};
  AudioFlags audio{};

  std::string task = "transcribe";
  std::optional<std::string> language{};
  double temperature = 0;
  std::optional<double> temperature_increment_on_fallback = 0.2;
  DecodingOptions decoding{.best_of = 5, .beam_size = 5, .suppress_tokens = {-1}};
  std::optional<std::string> initial_prompt{};
  bool carry_initial_prompt = false;
  bool condition_on_previous_text = true;
  std::optional<double> compression_ratio_threshold = 2.4;
  std::optional<double> logprob_threshold = -1.0;
  std::optional<double> no_speech_threshold = 0.6;
  std::vector<double> clip_timestamps{0};
  bool without_timestamps = false;
  std::optional<std::string> hotwords{};
  std::filesystem::path hotwords_file{};
  std::optional<std::string> prefix{};

  bool word_timestamps = false;
  std::string prepend_punctuations = WordRules{}.prepend_punctuations;
  std::string append_punctuations = WordRules{}.append_punctuations;
  std::optional<double> hallucination_silence_threshold{};
  SubtitleFlags subtitles{};

  DiarizeFlags diarize{};

  std::filesystem::path replace{};
  std::optional<double> paragraphs{};
  std::string on_done{};  // of transcribe and batch
};

/// Binds every field to its flag.
void add_transcribe(OptionTable& table, TranscribeCommand& command);

/// Only those that decide a transcript's text: model, VAD, decoding, words. For commands of another shape.
void add_speech(OptionTable& table, TranscribeCommand& command);

/// Binds --on-done, of commands that write files for each recording.
void add_on_done(OptionTable& table, std::string& command);

/// Where outputs go and of which formats, as -o, -f, --name-by and --skip-existing say.
OutputOptions output_options(const TranscribeCommand& command);
/// Names and terms to expect: those of --hotwords, then those of --hotwords-file, with commas between them.
Result<std::string> hot_words(const TranscribeCommand& command);

/// `model` is where the model was found. Errors name the option that is not valid.
Result<TranscribeOptions> run_options(const TranscribeCommand& command, const std::filesystem::path& model);

/// `tutti transcribe`: files to transcripts on one device.
int run_transcribe(const std::vector<std::string>& arguments);

}  // namespace tutti
