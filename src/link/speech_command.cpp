#include "link/speech_command.h"

#include "base/numbers.h"

namespace tutti {

std::vector<std::string> engine_arguments(const SpeechCommand& c) {
  std::vector<std::string> words{"say",
                                 "--voice",
                                 c.voice.string(),
                                 "--text",
                                 c.text.string(),
                                 "--out",
                                 c.out.string(),
                                 "--speaker",
                                 c.speaker,
                                 "--rate",
                                 number_text(c.rate),
                                 "--seed",
                                 std::to_string(c.seed),
                                 "--steps",
                                 std::to_string(c.steps),
                                 "--temperature",
                                 number_text(c.temperature),
                                 "--pauses",
                                 number_text(c.pauses),
                                 "--pitch-range",
                                 number_text(c.pitch_range),
                                 "--vocoder",
                                 c.vocoder,
                                 "--device",
                                 c.device,
                                 "--threads",
                                 std::to_string(c.threads)};
  if (!c.times.empty()) words.insert(words.end(), {"--times", c.times.string()});
  if (c.streams) words.emplace_back("--stream");
  return words;
}

}  // namespace tutti
