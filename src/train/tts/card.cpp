#include "train/tts/card.h"

#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {

std::string voice_card(const VoiceModel& model, const VoiceSet& set, const std::optional<VoiceScores>& scores) {
  std::int64_t parameters = 0, frames = 0;
  for (const auto& weight : model.network.all) parameters += weight.value.numel();
  const auto clips = set.part(VoicePart::training);
  for (const auto clip : clips) frames += set.frames(clip);
  const double minutes = static_cast<double>(frames * model.mel.hop) / model.mel.rate.value / 60;
  const auto line = [](const std::string& what, const std::string& value) {
    return "| " + what + " | " + value + " |\n";
  };
  std::string card =
      "# A voice of Tutti\n\nMade by `tutti train tts`; speak with `tutti say --voice DIR -o x.wav TEXT`.\n\n"
      "| | |\n|---|---|\n" +
      line("learned from", model.label.empty() ? "a set without a label" : model.label) +
      line("clips, minutes", std::to_string(clips.size()) + ", " + fixed_text(minutes, 1)) +
      line("language", model.language) + line("speakers", joined(model.speakers, ", ")) +
      line("sound", std::to_string(model.mel.rate.value) + " Hz, " + std::to_string(model.mel.n_mels) +
                        " mels; phases by Griffin-Lim") +
      line("parameters", std::to_string(parameters));
  if (scores)
    card += line("losses on clips held out", "flow " + fixed_text(scores->flow, 4) + ", prior " +
                                                 fixed_text(scores->prior, 4) + ", log durations " +
                                                 fixed_text(scores->durations, 4));
  return card;
}

}  // namespace tutti
