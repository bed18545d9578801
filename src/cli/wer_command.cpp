#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "diarize/speaker_words.h"
#include "text/error_rate.h"
#include "text/normaliser.h"

namespace tutti {
namespace {

struct WerCommand {
  std::filesystem::path ref{};
  std::filesystem::path hyp{};
  std::string normalizer = "none";
  BasicNormalising basic{};
  bool by_line = false;
  bool speakers = false;
  bool json = false;
};

void add_wer(OptionTable& table, WerCommand& c) {
  table.add("ref", c.ref, "FILE", "the reference text, UTF-8");
  table.add("hyp", c.hyp, "FILE", "the text to score");
  table
      .add("normalizer", c.normalizer, "NAME",
           "applied to both: none, or Whisper's english (a number ends with its line) or basic")
      .choices = {"none", "english", "basic"};
  table.add_switch("remove-diacritics", c.basic.remove_diacritics, "basic: 'é' counts as 'e', 'ß' as 'ss'");
  table.add_switch("split-letters", c.basic.split_letters,
                   "basic: every letter is a word, for scripts without spaces between words");
  table.add_switch("by-line", c.by_line, "line N of one file against line N of the other; else the whole files");
  table.add_switch("speakers", c.speakers,
                   "the speaker counts, too: both files are JSON with speakers, a transcript or \"turns\" with "
                   "\"speaker\", \"start\" and \"text\"; cpWER as meeteval, and WDER: words that another speaker has");
  table.add_switch("json", c.json, "print {\"wer\":...,\"cer\":...,\"words\":...}");
  table.examples({"tutti wer --ref ref.txt --hyp out/talk.txt",
                  "tutti wer --ref ref.txt --hyp out/talk.txt --normalizer english --json",
                  "tutti wer --speakers --ref true.json --hyp out/talk.json --normalizer english"});
}

std::string normalised(const std::string& text, const WerCommand& command) {
  if (command.normalizer == "english") return normalise_english_lines(text);
  if (command.normalizer == "basic") return normalise_basic(text, command.basic);
  return text;
}

/// The texts of a file to be compared: each line, or all lines as one, with spaces between them.
Result<std::vector<std::string>> texts_of(const std::filesystem::path& path, const WerCommand& command) {
  auto lines = read_lines(path);
  if (!lines) return lines;
  if (!command.by_line) {
    std::string whole;
    for (const auto& line : *lines) whole += (whole.empty() ? "" : "\n") + line;
    *lines = {whole};
  }
  for (auto& text : *lines) {
    text = normalised(text, command);
    std::ranges::replace(text, '\n', ' ');
  }
  return lines;
}

Result<ErrorRates> compare(const WerCommand& command) {
  const auto references = TRY(texts_of(command.ref, command));
  const auto hypotheses = TRY(texts_of(command.hyp, command));
  return error_rates(references, hypotheses);
}

Result<std::vector<SpeakerText>> speaker_texts_of(const std::filesystem::path& path, const WerCommand& command) {
  const auto json = TRY(read_file(path));
  auto texts = read_speaker_texts(json, path.string());
  if (texts)
    for (auto& text : *texts) text.text = normalised(text.text, command);
  return texts;
}

int compare_speakers(const WerCommand& command) {
  const auto reference = speaker_texts_of(command.ref, command);
  if (!reference) return complain(reference.error(), kNothingRan);
  const auto hypothesis = speaker_texts_of(command.hyp, command);
  if (!hypothesis) return complain(hypothesis.error(), kNothingRan);
  const SpeakerWordErrors errors = speaker_word_errors(*reference, *hypothesis);
  if (command.json) {
    const nlohmann::ordered_json line{{"cpwer", errors.cp_wer()},
                                      {"wder", errors.wder()},
                                      {"words", errors.words},
                                      {"errors", errors.word_errors},
                                      {"aligned", errors.aligned},
                                      {"misplaced", errors.misplaced},
                                      {"reference_speakers", errors.reference_speakers},
                                      {"hypothesis_speakers", errors.hypothesis_speakers}};
    std::printf("%s\n", line.dump().c_str());
  } else {
    std::printf(
        "cpWER %.2f %% over %lld words; WDER %.2f %%: of %lld aligned words, %lld with another speaker; "
        "speakers: %zu found, %zu true\n",
        100 * errors.cp_wer(), static_cast<long long>(errors.words), 100 * errors.wder(),
        static_cast<long long>(errors.aligned), static_cast<long long>(errors.misplaced), errors.hypothesis_speakers,
        errors.reference_speakers);
  }
  return kDone;
}

}  // namespace

int run_wer(const std::vector<std::string>& arguments) {
  WerCommand command;
  OptionTable table("wer", "Word and character error rate of a text against its reference, as jiwer counts them.");
  add_wer(table, command);
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.ref.empty() || command.hyp.empty())
    return complain({Fault::usage, "expected --ref FILE and --hyp FILE", "See 'tutti wer --help'"}, kUsage);

  const bool has_switch = command.basic.remove_diacritics || command.basic.split_letters;
  if (has_switch && command.normalizer != "basic") {
    return complain({Fault::usage,
                     "--remove-diacritics and --split-letters belong to --normalizer basic, found --normalizer " +
                         command.normalizer,
                     "Add --normalizer basic, or leave them out"},
                    kUsage);
  }

  if (command.speakers && command.by_line)
    return complain({Fault::usage, "--speakers and --by-line: expected one of them, found both", "Leave one out"},
                    kUsage);
  if (command.speakers) return compare_speakers(command);
  const auto rates = compare(command);
  if (!rates) return complain(rates.error(), kNothingRan);
  const std::int64_t words = rates->words.hits + rates->words.substitutions + rates->words.deletions;
  if (command.json) {
    const nlohmann::ordered_json line{{"wer", rates->wer()}, {"cer", rates->cer()}, {"words", words}};
    std::printf("%s\n", line.dump().c_str());
  } else {
    std::printf("WER %.2f %%, CER %.2f %% over %lld words: %lld substituted, %lld inserted, %lld deleted\n",
                100 * rates->wer(), 100 * rates->cer(), static_cast<long long>(words),
                static_cast<long long>(rates->words.substitutions), static_cast<long long>(rates->words.insertions),
                static_cast<long long>(rates->words.deletions));
  }
  return kDone;
}

}  // namespace tutti
