#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "audio/voice/melody.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/training/training_run.h"
#include "link/speech_command.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct SayCommand {
  std::vector<std::string> text{};
  fs::path out = "-";
  SpeechCommand speech{};  // without its text and output
};

OptionTable table_of(SayCommand& c) {
  OptionTable table(
      "say",
      "Speak a text with a voice of 'tutti train tts', sentence by sentence, into a WAV file of 16 bits at "
      "the voice's rate. Numbers and abbreviations are written out first; [[…]] holds IPA where a voice "
      "knows phonemes.");
  table.positional(c.text, "TEXT...|-", "what to say; -: what standard input holds");
  table.add("voice", c.speech.voice, "DIR", "OUT/model of 'tutti train tts', or models/voice");
  table
      .add("output", c.out, "FILE.wav",
           "the sound, whose missing folders are made; -: standard output, where that is no terminal. Only a file that "
           "an earlier run wrote is replaced")
      .letter = 'o';
  table.add("times", c.speech.times, "FILE.json|FILE.srt",
            "also when each word is spoken; as JSON, each phoneme or character too");
  table.add("speaker", c.speech.speaker, "NAME", "speaker of the voice; without it, its default speaker");
  table.add("rate", c.speech.rate, "X", "how fast: 0.5 takes twice the time, 2 half of it");
  table.add("seed", c.speech.seed, "N", "seed of the noise that speech is made of; the same seed gives the same audio");
  table.add("steps", c.speech.steps, "N", "from noise to speech: 1 is flat, more than 4 changes hardly anything");
  table.add("temperature", c.speech.temperature, "X",
            "scale of the noise that speech is made of, 0 to 1: less is flatter and clearer; -1: what the voice's "
            "config.json has, else 0.333");
  table.add("pauses", c.speech.pauses, "X",
            "how long pauses at marks and between sentences last, 0 to 10: 0.5 half as long, 2 twice");
  table.add("pitch-range", c.speech.pitch_range, "X",
            "how far the pitch goes from its median, 0.1 to 4: 0.5 half as many semitones, 2 twice as many; 0: what "
            "the voice's config.json has, else 1");
  table.add("vocoder", c.speech.vocoder, "auto|trained|griffin-lim|DIR",
            "what makes sound of spectrograms: the trained vocoder in the voice's folder, Griffin-Lim, or OUT/model of "
            "'tutti train vocoder'; auto: the voice's own where it has one");
  table.add("device", c.speech.device, "cpu|auto|cuda:N", "where the network is; it is small, and a processor does");
  table.add("threads", c.speech.threads, "N", "0: one per core");
  table.examples({"tutti say --voice models/voice -o x.wav \"three five zero two nine\"",
                  "tutti say --voice models/voice --times x.srt -o x.wav - < story.txt"});
  return table;
}

Result<void> check_values(const SayCommand& c) {
  constexpr double kSlowest = 0.25, kFastest = 4;
  constexpr std::int32_t kMostSteps = 100;
  if (c.speech.voice.empty())
    return fail(Fault::usage, "there is no voice", "Name OUT/model of 'tutti train tts' with --voice");
  if (c.speech.rate < kSlowest || c.speech.rate > kFastest)
    return fail(Fault::usage, "--rate: expected 0.25 to 4, found " + number_text(c.speech.rate));
  if (!(c.speech.temperature >= 0 && c.speech.temperature <= 1) && c.speech.temperature != -1)
    return fail(Fault::usage, "--temperature: expected 0 to 1, or -1, found " + number_text(c.speech.temperature));
  constexpr double kLongestPauses = 10;
  if (!(c.speech.pauses >= 0 && c.speech.pauses <= kLongestPauses))
    return fail(Fault::usage, "--pauses: expected 0 to 10, found " + number_text(c.speech.pauses));
  if (c.speech.pitch_range != 0 &&
      !(c.speech.pitch_range >= kLeastPitchRange && c.speech.pitch_range <= kMostPitchRange))
    return fail(Fault::usage, "--pitch-range: expected 0.1 to 4, or 0, found " + number_text(c.speech.pitch_range));
  if (c.speech.steps < 1 || c.speech.steps > kMostSteps)
    return fail(Fault::usage, "--steps: expected 1 to 100, found " + std::to_string(c.speech.steps));
  const auto kind = c.speech.times.extension();
  if (!c.speech.times.empty() && kind != ".json" && kind != ".srt")
    return fail(Fault::usage,
                "--times: expected a file whose name ends in .json or .srt, found " + c.speech.times.string());
  if (!is_there(c.speech.voice / "config.json"))
    return fail(Fault::missing, c.speech.voice.string() + ": no voice is there",
                "Expected the folder OUT/model of 'tutti train tts --out OUT'");
  return check_thread_count("--threads", c.speech.threads);
}

bool is_wav(const fs::path& file) {
  std::error_code error;
  return ascii_lower(file.extension().string()) == ".wav" || fs::is_other(file, error);
}

/// Nothing of the voice is written over, one file is not both outputs, and files that 'tutti say' did not write stay.
/// Times have no mark of their own: they are replaced together with the sound that names them.
Result<void> check_outputs(const SayCommand& c) {
  OutputOwnership files("Name another file");
  files.add_input(c.speech.voice);
  std::error_code error;
  const bool is_file = c.out != "-" && fs::is_regular_file(c.out, error) && fs::file_size(c.out, error) > 0;
  const bool replaces = is_file && OutputOwnership().claim_marked(c.out, "", speech_mark(c.speech.times));
  if (c.out != "-" && !is_wav(c.out))
    return fail(Fault::usage, "--output: expected a file whose name ends in .wav, found " + c.out.string());
  if (c.out != "-")
    if (auto claimed = files.claim_marked(c.out, "the sound", kSpeechMark); !claimed) return claimed;
  if (!c.speech.times.empty())
    if (auto claimed = replaces ? files.claim(c.speech.times, "the times")
                                : files.claim_marked(c.speech.times, "the times", kSpeechMark);
        !claimed)
      return claimed;
  if (c.out == "-" && ::isatty(STDOUT_FILENO) == 1)
    return fail(Fault::usage, "the sound would go to the terminal", "Name a file with -o, or a pipe");
  auto expected = c.out == "-" ? Result<void>() : expect_output_file("--output", c.out);
  return expected ? expect_output_file("--times", c.speech.times) : expected;
}

Result<std::string> text_of(const SayCommand& c) {
  if (c.text.size() == 1 && c.text[0] == "-") return read_rest(STDIN_FILENO, "standard input");
  return joined(c.text, " ");
}

}  // namespace

int run_say(const std::vector<std::string>& arguments) {
  SayCommand c;
  auto table = table_of(c);
  if (const auto code = start_command(table, arguments)) return *code;
  for (const auto& checked : {check_values(c), check_outputs(c)})
    if (!checked) return complain(checked.error());
  const auto text = text_of(c);
  if (!text) return complain(text.error(), kNothingRan);
  const auto file = settings_file(*text);
  if (!file) return complain(file.error(), kNothingRan);
  c.speech.text = path_of(*file);
  if (c.out != "-") c.speech.out = c.out;
  std::error_code error;
  c.speech.streams = c.out == "-" && !fs::is_regular_file("/dev/stdout", error);
  return run_engine(engine_arguments(c.speech), "it spoke");
}

}  // namespace tutti
