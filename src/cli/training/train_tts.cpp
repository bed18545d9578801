#include "cli/training/single_training.h"
#include "feed/recipe/tts_fields.h"

namespace tutti {

int run_train_tts(const std::vector<std::string>& words) {
  const auto ours = in_voice_names(words);
  if (!ours) return complain(ours.error(), kUsage);
  for (const auto& answer : ours->answers) std::fprintf(stderr, "%s\n", answer.c_str());
  return run_single_training<TtsRecipe>(
      {.word = kTtsTraining,
       .about = "Train a voice on a set that 'tutti prepare tts' made of recordings with their texts. Every setting "
                "is a flag here and a key in a recipe; OUT/config.toml keeps what was used. OUT/model is for "
                "'tutti say'. Texts and sounds are aligned in every step; nothing else has to know where a word is. "
                "Settings of other trainers (field note 002's, DataLoader's) are taken by their names, answered with "
                "what replaces them, or refused with the reason.",
       .examples = {"tutti train tts --train-data set --out trained", "tutti train tts --out trained --resume"},
       .note_batch_bytes = 16 * 800 * 80 * 4,  // field note 002's, in float32
       .read = [](const std::string& text, const std::string& file) { return read_tts_recipe(text, file); },
       .sources =
           [](const TtsRecipe& r) {
             return std::vector{r.train_data, r.val_data, r.model};
           }},
      ours->words);
}

}  // namespace tutti
